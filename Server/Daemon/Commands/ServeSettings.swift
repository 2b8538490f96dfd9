import ArgumentParser
import TidemarkAssembly
import TidemarkCommandLine

/// The options of `tidemark serve`, which `tidemark doctor` accepts as well.
struct ServeSettings: ParsableArguments {
    @Option(help: ArgumentHelp(Setting.config.help, valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp(Setting.database.help))
    var database: String?

    @Option(help: ArgumentHelp(Setting.listen.help, valueName: "host:port"))
    var listen: String?

    @Option(help: ArgumentHelp(Setting.adminListen.help, valueName: "host:port"))
    var adminListen: String?

    @Option(help: ArgumentHelp(Setting.adminTokenFile.help, valueName: "file"))
    var adminTokenFile: String?

    @Option(help: ArgumentHelp(Setting.schema.help, valueName: "file"))
    var schema: String?

    @Option(help: ArgumentHelp(Setting.secretFile.help, valueName: "file"))
    var secretFile: String?

    @Option(help: ArgumentHelp(Setting.issuers.help, valueName: "file"))
    var issuers: String?

    @Option(help: ArgumentHelp(Setting.cursorKeyFile.help, valueName: "file"))
    var cursorKeyFile: String?

    @OptionGroup var accounts: AccountOptions

    @OptionGroup var network: NetworkOptions

    @Flag(help: ArgumentHelp(Setting.development.help))
    var dev = false

    @Flag(help: ArgumentHelp(Setting.developmentReachable.help))
    var devReachable = false

    @Option(help: ArgumentHelp(Setting.durable.help, valueName: "rule"))
    var durable: String?

    @Option(help: ArgumentHelp(Setting.logLevel.help, valueName: "level"))
    var logLevel: String?

    @Option(help: ArgumentHelp(Setting.name.help, valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp(Setting.node.help, valueName: "number"))
    var node: String?

    @Option(
        help: ArgumentHelp("The same as --limit RATE=NUMBER. (environment: TIDEMARK_LIMIT_RATE)", valueName: "number"))
    var rate: String?

    @Option(
        help: ArgumentHelp(
            "The same as --limit LEDGER_DAYS=NUMBER. (environment: TIDEMARK_LIMIT_LEDGER_DAYS)", valueName: "number"))
    var ledgerDays: String?

    @Option(
        help: ArgumentHelp("Changes one of the limits above. May be given several times.", valueName: "name=value"))
    var limit: [String] = []

    /// Combines the options with the environment.
    ///
    /// - Returns: the environment with the limits of the command line, the other options, and the option that gave each
    ///   value.
    /// - Throws: `ValidationError` for an invalid option.
    func given(
        _ environment: [String: String]
    ) throws -> (environment: [String: String], overrides: [Setting: String], options: [String: String]) {
        var environment = environment
        var given: [String: String] = [:]
        let own = [
            rate.map { ("--rate", "RATE=\($0)") }, ledgerDays.map { ("--ledger-days", "LEDGER_DAYS=\($0)") },
        ].compactMap { $0 }
        for (option, text) in limit.map({ ("--limit", $0) }) + own {
            let parts = text.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else {
                throw ValidationError("--limit must be NAME=VALUE, such as RATE=200, not '\(text)'.")
            }
            let variable = LimitSetting.prefix + parts[0].uppercased()
            environment[variable] = String(parts[1])
            given[variable] = option == "--limit" ? "--limit \(text)" : "\(option) \(parts[1])"
        }
        var overrides: [Setting: String] = [:]
        for (setting, value) in [
            (Setting.config, config), (.database, database), (.listen, listen), (.adminListen, adminListen),
            (.adminTokenFile, adminTokenFile),
            (.schema, schema), (.secretFile, secretFile), (.issuers, issuers), (.cursorKeyFile, cursorKeyFile),
            (.durable, durable), (.logLevel, logLevel), (.name, name), (.node, node),
            (.development, dev ? "1" : nil), (.developmentReachable, devReachable ? "1" : nil),
        ] + accounts.values + network.values {
            guard let value else { continue }
            overrides[setting] = value
            given[setting.rawValue] = setting.option
        }
        return (environment, overrides, given)
    }
}
