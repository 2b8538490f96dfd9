import ArgumentParser
import TidemarkCommandLine
import TidemarkIdentity
import TidemarkModel

/// `tidemark accounts`: who signs in at a server of its own.
struct AccountsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts",
        abstract: "List, add and disable the accounts of a running server, and bring them from elsewhere.",
        discussion: """
            The server runs with --accounts and with a listener for operators; what is done is listed by 'tidemark audit'.

            EXAMPLES
              tidemark accounts add ann@example.com --admin-token-file admin_tokens
              tidemark accounts list --admin-token-file admin_tokens
              tidemark accounts disable ann@example.com --why "left" --admin-token-file admin_tokens
              tidemark accounts reset-password ann@example.com --admin-token-file admin_tokens
              tidemark accounts import users.json --firebase hash_config.json --admin-token-file admin_tokens
            """,
        subcommands: [List.self, Add.self, Disable.self, Enable.self, ResetPassword.self, AccountsImportCommand.self])
}

/// Whose account, and why.
struct AccountActOptions: ParsableArguments {
    @Argument(help: "The name that is typed to log in.")
    var login: String

    @Option(help: "Why, for 'tidemark audit'.")
    var why = ""

    @OptionGroup var place: AdminWorkspace
    @OptionGroup var admin: AdminOptions

    func validate() throws {
        guard LoginName(login) != nil else {
            throw ValidationError("The name must have 1 to 256 bytes without white space and control characters.")
        }
    }

    /// Has it done.
    func act(_ act: String, _ more: Fields = Fields()) async throws -> Fields {
        var call = more
        call["workspace"] = .string(place.workspace)
        call["login"] = .string(login)
        call["act"] = .string(act)
        if !why.isEmpty { call["why"] = .string(why) }
        return try await admin.call("accounts", body: call.canonicalBytes)
    }

    /// Prints a token for another password.
    func tell(_ answer: Fields, _ done: String) throws {
        guard !admin.printsJSON(answer) else { return }
        guard let token = answer.text("reset") else { throw CommandFailure("the server gives no token") }
        print("\(done), user \(answer.word("user"))")
        print("a token for a password, good once, until \(answer.day("until")):")
        print(token.withoutSteering)
    }
}

extension AccountsCommand {
    /// `tidemark accounts list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "Print the accounts of a workspace, one a line.",
            discussion: """
                Columns, parted by tabs: name, user, when it was made, when its password was set, the scheme of its hash \
                (none: there is no password), since when it is disabled; - stands for nothing.
                """)

        @OptionGroup var place: AdminWorkspace
        @OptionGroup var admin: AdminOptions

        func run() async throws {
            var after: String?
            repeat {
                let answer = try await admin.call(
                    "accounts", [("workspace", place.workspace), ("after", after), ("limit", "500")])
                after = nil
                let accounts = answer.list("accounts")
                if answer["more"] == .boolean(true) { after = accounts.last?.text("login") }
                guard !admin.printsJSON(answer) else { continue }
                for row in accounts {
                    let columns = [
                        row.word("login"), row.word("user"), row.day("created"), row.day("changed"),
                        row.word("password"), row.day("disabled"),
                    ]
                    print(columns.joined(separator: "\t"))
                }
            } while after != nil
        }
    }

    /// `tidemark accounts add`.
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Make an account, and print a token by which its person sets a password.",
            discussion: "Nobody logs in before. The token is good once; 'reset-password' makes another.")

        @Option(help: "Whom the account's tokens are for, where records name a user already; else one by chance.")
        var user: String?

        @OptionGroup var options: AccountActOptions

        func run() async throws {
            var more = Fields()
            if let user { more["user"] = .string(user) }
            try options.tell(try await options.act("add", more), "account made")
        }
    }

    /// `tidemark accounts disable`.
    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "disable",
            abstract: "Let nobody in by an account any more, and sign all of its devices out.",
            discussion: "Connections end on every server within a second. Nothing is deleted: see 'enable'.")

        @OptionGroup var options: AccountActOptions

        func run() async throws {
            let answer = try await options.act("disable")
            if !options.admin.printsJSON(answer) { print("disabled, and signed out: user \(answer.word("user"))") }
        }
    }

    /// `tidemark accounts enable`.
    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "enable", abstract: "Let an account's person in again, by the password that it has.")

        @OptionGroup var options: AccountActOptions

        func run() async throws {
            let answer = try await options.act("enable")
            if !options.admin.printsJSON(answer) { print("enabled: user \(answer.word("user"))") }
        }
    }

    /// `tidemark accounts reset-password`.
    struct ResetPassword: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset-password",
            abstract: "Print a token by which an account's person sets another password.",
            discussion:
                "Until then the one that there is counts. Who may be in by it is signed out by 'tidemark devices revoke --user'."
        )

        @OptionGroup var options: AccountActOptions

        func run() async throws { try options.tell(try await options.act("reset"), "token made") }
    }
}
