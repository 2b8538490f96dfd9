import ArgumentParser
import TidemarkCommandLine
import TidemarkIdentity
import TidemarkModel

/// `tidemark accounts`: the accounts of people who sign in at the server itself.
struct AccountsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts",
        abstract: "List, add and disable the accounts of a running server, and import them.",
        discussion: """
            The server runs with --accounts and a listener for operators; 'tidemark audit' lists what was done.

            EXAMPLES
              tidemark accounts add ann@example.com --admin-token-file admin_tokens
              tidemark accounts list --admin-token-file admin_tokens
              tidemark accounts disable ann@example.com --why "left" --admin-token-file admin_tokens
              tidemark accounts reset-password ann@example.com --admin-token-file admin_tokens
              tidemark accounts import users.json --firebase hash_config.json --admin-token-file admin_tokens
            """,
        subcommands: [List.self, Add.self, Disable.self, Enable.self, ResetPassword.self, AccountsImportCommand.self])
}

/// The account, and the reason for the act.
struct AccountActOptions: ParsableArguments {
    @Argument(help: "The login name.")
    var login: String

    @Option(help: "The reason, for 'tidemark audit'.")
    var why = ""

    @OptionGroup var place: AdminWorkspace
    @OptionGroup var admin: AdminOptions

    func validate() throws {
        guard LoginName(login) != nil else {
            throw ValidationError("The name must have 1 to 256 bytes without white space and control characters.")
        }
    }

    /// Sends the act to the server.
    func act(_ act: String, _ more: Fields = Fields()) async throws -> Fields {
        var call = more
        call["workspace"] = .string(place.workspace)
        call["login"] = .string(login)
        call["act"] = .string(act)
        if !why.isEmpty { call["why"] = .string(why) }
        return try await admin.call("accounts", body: call.canonicalBytes)
    }

    /// Prints a token for setting a password.
    func tell(_ answer: Fields, _ done: String) throws {
        guard !admin.printsJSON(answer) else { return }
        guard let token = answer.text("reset") else { throw CommandFailure("the server's answer has no token") }
        print("\(done), user \(answer.word("user"))")
        print("a token for setting a password, valid once, until \(answer.day("until")):")
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
                Columns, separated by tabs: name, user, when it was made, when its password was set, the scheme of its \
                hash (none: there is no password), since when it is disabled; - is an empty column.
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
            abstract: "Make an account, and print a token with which its user sets a password.",
            discussion: "The user can log in after that. The token is valid once; 'reset-password' makes another.")

        @Option(help: "The user id of the account's tokens, if records name the user already. (default: a random one)")
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
            abstract: "Lock an account, and sign all of its devices out.",
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
            commandName: "enable", abstract: "Unlock an account; its password stays.")

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
            abstract: "Print a token with which an account's user sets a new password.",
            discussion:
                "Until then the old password is valid. 'tidemark devices revoke --user' signs out all who use it."
        )

        @OptionGroup var options: AccountActOptions

        func run() async throws { try options.tell(try await options.act("reset"), "token made") }
    }
}
