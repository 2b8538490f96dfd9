import ArgumentParser
import Foundation
import TidemarkAssembly
import TidemarkCommandLine
import TidemarkIdentity
import TidemarkModel
import TidemarkOperations

/// The address of a running server, and the secret that proves the operator.
struct OperatorOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The running server; without TLS only on its own machine or in its private network. Any of several servers \
            on one database.
            """, valueName: "url"))
    var server = "http://127.0.0.1:8080"

    @Option(
        help: ArgumentHelp(
            "The authorities to trust instead of the system's, PEM, for a server with TLS.", valueName: "file"))
    var trustRoots: String?

    @OptionGroup var signing: SigningOptions

    /// - Returns: the members of the answer.
    /// - Throws: `CommandFailure` with the server's message, or the reason why it cannot be reached.
    func call(_ method: String, _ path: String, body: [UInt8] = []) async throws -> Fields {
        let issuer = await TokenIssuer(secret: try signing.secret(), now: wallClock)
        let token = try issuer.issue(
            user: "operator", workspace: SigningOptions.workspace, lifetime: .seconds(300), isOperator: true)
        let call = try OperatorCall(method, path, at: server, token: token, trustRoots: trustRoots, body: body)
        let (status, bytes) = try await call.answer()
        let members: Fields
        do {
            members = try JSONReader.read(bytes) { try $0.fields() }
        } catch {
            throw CommandFailure("\(server) is not a Tidemark server: it answers \(path) with status \(status)")
        }
        guard status == 200 else {
            throw CommandFailure(members.text("msg") ?? "the server answers with status \(status)")
        }
        return members
    }
}

extension SchemaCommand {
    /// `tidemark schema apply`: puts a document in force on a running server.
    struct Apply: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "apply",
            abstract: "Put a schema in force on a running server, while apps are connected.",
            discussion: """
                The server stores the document under a number, its revision, and uses it from then on. Other servers \
                on the same database follow within a second, and 'tidemark serve' needs no --schema any more. It asks \
                for --accept if the change takes something from apps in use. With --dry-run it says what would change \
                and for how many records, devices and apps, and changes nothing.

                --min-app ends old apps: they are asked to update, and keep what was written on the device until then. \
                Versions are compared number by number (2.10 is later than 2.9). An app reports its name and version \
                when it connects, as 'shop 2.4'; one without a version is older than all. Tokens of services pass.

                EXAMPLES
                  tidemark schema apply app.schema.json --dry-run --secret-file token_secret
                  tidemark schema apply app.schema.json --secret-file token_secret
                  tidemark schema apply --min-app 2.4 --secret-file token_secret
                  tidemark schema apply --min-app "shop 3.1, desk 2.0" --note "ticket 81" --dev
                  tidemark schema apply --min-app none --dev
                """)

        @Argument(
            help:
                "The schema document, JSON; - reads it from standard input. Without it the one that is in force stays.")
        var file: String?

        @Flag(help: "Say what would change, and change nothing.")
        var dryRun = false

        @Flag(help: "Apply it even if something is removed or narrowed.")
        var accept = false

        @Option(
            help: ArgumentHelp(
                """
                The least version of apps that is served from now on: VERSION for every app, 'NAME VERSION' for one, \
                several with commas, 'none' for all. Without it the earlier setting stays.
                """, valueName: "versions"))
        var minApp: String?

        @Option(help: ArgumentHelp("Your name and reason; kept with the document.", valueName: "text"))
        var note = ""

        @OptionGroup var server: OperatorOptions

        func validate() throws {
            guard file != nil || minApp != nil else {
                throw ValidationError("Name a FILE, or give --min-app, or both.")
            }
        }

        func run() async throws {
            var call = SchemaCall(isAccepted: accept, isDryRun: dryRun, note: note)
            call.document = try file.map { try Self.text(at: $0) }
            call.requirement = minApp.map { $0 == "none" ? "" : $0 }
            let answer = try await server.call("POST", "/v1/schema", body: call.encode())
            print(answer.text("text") ?? "")
            guard !dryRun else { return }
            let revision = answer["revision"]?.json ?? ""
            print(
                answer["applied"] == .boolean(true)
                    ? "\nin force as revision \(revision)" : "\nnothing to do: this is in force as revision \(revision)"
            )
        }

        private static func text(at file: String) throws -> String {
            let bytes: Data
            if file == "-" {
                bytes = try FileHandle.standardInput.readToEnd() ?? Data()
            } else {
                guard let contents = FileManager.default.contents(atPath: file) else {
                    throw CommandFailure("cannot read \(file)")
                }
                bytes = contents
            }
            guard let text = String(data: Data(Array(bytes).withoutMark), encoding: .utf8) else {
                throw CommandFailure("\(file) is not UTF-8")
            }
            return text
        }
    }

    /// `tidemark schema show`: the document in force.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Print the schema document that is in force on a running server.",
            discussion: """
                The document is printed to standard output as it was given, its revision to standard error.

                EXAMPLES
                  tidemark schema show --secret-file token_secret > app.schema.json
                """)

        @OptionGroup var server: OperatorOptions

        func run() async throws {
            let answer = try await server.call("GET", "/v1/schema")
            let minimum = answer.text("min_app") ?? ""
            let about = "revision \(answer["revision"]?.json ?? ""), apps served: \(minimum.isEmpty ? "all" : minimum)"
            FileHandle.standardError.write(Data((about + "\n").utf8))
            print(answer.text("document") ?? "", terminator: "")
        }
    }
}
