import ArgumentParser
import TidemarkAssembly

/// Options of `tidemark serve` about people who sign in at the server itself.
struct AccountOptions: ParsableArguments {
    @Flag(help: ArgumentHelp(Setting.accounts.help))
    var accounts = false

    @Option(help: ArgumentHelp(Setting.accountsWorkspaces.help, valueName: "names"))
    var accountsWorkspaces: String?

    @Option(help: ArgumentHelp(Setting.accountsRegister.help, valueName: "who"))
    var accountsRegister: String?

    @Option(help: ArgumentHelp(Setting.accountsKeyFile.help, valueName: "file"))
    var accountsKeyFile: String?

    @Option(help: ArgumentHelp(Setting.accountsResetHook.help, valueName: "url"))
    var accountsResetHook: String?

    @Option(help: ArgumentHelp(Setting.accountsHookSecretFile.help, valueName: "file"))
    var accountsHookSecretFile: String?

    /// The given values by setting.
    var values: [(Setting, String?)] {
        [
            (.accounts, accounts ? "1" : nil), (.accountsWorkspaces, accountsWorkspaces),
            (.accountsRegister, accountsRegister), (.accountsKeyFile, accountsKeyFile),
            (.accountsResetHook, accountsResetHook), (.accountsHookSecretFile, accountsHookSecretFile),
        ]
    }
}
