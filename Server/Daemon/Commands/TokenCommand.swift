import ArgumentParser
import TidemarkCommandLine
import TidemarkIdentity

/// `tidemark token`: a token for a user or a program, printed alone on one line.
struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Print a signed token for a user or for a program of yours.",
        discussion: """
            The token opens one workspace for one user. Anyone with the secret can make any token: keep it on the \
            server.

            EXAMPLES
              tidemark token --user ann --secret-file secret
              tidemark token --user backup --service --ttl 10m --workspace acme
              curl --header "Authorization: Bearer $(tidemark token --user ann --dev)" \\
                  http://127.0.0.1:8080/v1/info
              tidemark token explain - --issuers issuers.json < token
            """,
        subcommands: [Explain.self])

    @Option(help: "The user of the token: its \"sub\".")
    var user: String?

    @Option(help: "The workspace that the token opens: its \"ws\".")
    var workspace = SigningOptions.workspace

    @Option(help: "The lifetime of the token, at most 24h: a number with s, m or h.")
    var ttl = TimeSpan(.seconds(24 * 3_600))

    @Flag(help: "For a program that acts for the operator: passes every access rule.")
    var service = false

    @Flag(
        name: .customLong("operator"),
        help: "For the server's operator: opens the calls for the whole server, such as 'tidemark schema apply'.")
    var isOperator = false

    @OptionGroup var signing: SigningOptions

    func validate() throws {
        for (name, value) in [("--user", user ?? "-"), ("--workspace", workspace)]
        where !(1...128).contains(value.utf8.count) || value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
            throw ValidationError("\(name) must have 1 to 128 bytes and no control characters.")
        }
        guard ttl.duration <= Issuer.usualLifetimeMax else { throw ValidationError("--ttl is at most 24h.") }
    }

    func run() async throws {
        // Its type does not require it: 'token explain' needs no user.
        guard let user else { throw ValidationError("Missing expected argument '--user <user>'") }
        let issuer = await TokenIssuer(secret: try signing.secret(), now: wallClock)
        print(
            try issuer.issue(
                user: user, workspace: workspace, lifetime: ttl.duration, isService: service,
                isOperator: isOperator))
    }
}
