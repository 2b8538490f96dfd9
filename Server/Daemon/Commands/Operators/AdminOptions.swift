import ArgumentParser
import Foundation
import TidemarkAssembly
import TidemarkCommandLine
import TidemarkIdentity
import TidemarkModel

/// The address of the listener for operators, and the token for it.
struct AdminOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The listener for operators of a running server, its --admin-listen. Lists of connections are those of that \
            server only.
            """, valueName: "url"))
    var admin = "http://127.0.0.1:8081"

    @Option(
        help: ArgumentHelp(
            """
            The server's --admin-token-file; the first token is used. (environment: TIDEMARK_ADMIN_TOKEN_FILE, or the \
            file of settings in TIDEMARK_CONFIG)
            """, valueName: "file"))
    var adminTokenFile: String?

    @OptionGroup var development: DevelopmentOptions

    @Flag(help: "Print the answer as JSON.")
    var json = false

    /// - Returns: the members of the answer.
    /// - Throws: `CommandFailure` with the server's message, or the reason why it cannot be reached.
    func call(
        _ path: String, _ members: [(String, String?)] = [], body: [UInt8] = []
    ) async throws -> Fields {
        let address = OperatorCall.path("/admin/v1/" + path, members)
        let call = try OperatorCall(body.isEmpty ? "GET" : "POST", address, at: admin, token: try token(), body: body)
        let (status, bytes) = try await call.answer()
        // An invalid answer comes from another program, whatever is wrong with it.
        guard let answer = try? JSONReader.read(bytes, { try $0.fields() }) else {
            throw CommandFailure("\(admin) is not a listener for operators: it answers with status \(status)")
        }
        guard status == 200 else {
            // A 404 names the missing record; without a name, the path itself is unknown.
            if status == 404, answer.text("msg") == "no such address" {
                let more = path.hasPrefix("accounts") ? " and --accounts" : ""
                throw CommandFailure(
                    "\(admin) has no such API for operators: start the server with --admin-token-file\(more)")
            }
            throw CommandFailure(answer.text("msg") ?? "the server answers with status \(status)")
        }
        return answer
    }

    /// Prints the whole answer if the user asks for JSON.
    ///
    /// - Returns: false if the answer is to be printed for people.
    func printsJSON(_ answer: Fields) -> Bool {
        if json { print(String(decoding: answer.canonicalBytes, as: UTF8.self)) }
        return json
    }

    private func token() throws -> String {
        guard let path = try Setting.adminTokenFile.given(adminTokenFile, ProcessInfo.processInfo.environment) else {
            guard development.dev else {
                throw CommandFailure("name the server's file of tokens with --admin-token-file, or give --dev")
            }
            let secret = try development.secret(.operators)
            guard let token = Self.firstToken(secret.text) else {
                throw CommandFailure("\(secret.path) holds no token")
            }
            return token
        }
        guard let contents = FileManager.default.contents(atPath: path) else {
            throw CommandFailure("cannot read \(path)")
        }
        let text = String(decoding: Array(contents).withoutMark, as: UTF8.self)
        guard let token = Self.firstToken(text) else { throw CommandFailure("\(path) holds no token") }
        return token
    }

    private static func firstToken(_ text: String) -> String? {
        text.split(whereSeparator: \.isNewline).first?.split(whereSeparator: \.isWhitespace).last.map(String.init)
    }
}

/// The workspace of a question.
struct AdminWorkspace: ParsableArguments {
    @Option(help: "The workspace.")
    var workspace = SigningOptions.workspace

    func validate() throws {
        guard WorkspaceID(checking: workspace) != nil else {
            throw ValidationError("--workspace must have 1 to 128 bytes and no control characters.")
        }
    }
}

/// An answer read member by member, with no control characters for the terminal.
extension Fields {
    func text(_ name: String) -> String? { if case .string(let text)? = self[name] { text } else { nil } }

    func number(_ name: String) -> Int64? { if case .integer(let number)? = self[name] { number } else { nil } }

    func list(_ name: String) -> [Fields] {
        guard case .array(let values)? = self[name] else { return [] }
        return values.compactMap { if case .object(let fields) = $0 { fields } else { nil } }
    }

    /// Returns a time as text; `-` if it is missing.
    func day(_ name: String) -> String { number(name).map(DevicesCommand.day) ?? "-" }

    /// Returns a text or a number; `-` if it is missing.
    func word(_ name: String) -> String { text(name)?.withoutSteering ?? number(name).map { "\($0)" } ?? "-" }
}

extension String {
    /// The text of several lines without control characters for the terminal.
    var linesWithoutSteering: String {
        split(separator: "\n", omittingEmptySubsequences: false).map { String($0).withoutSteering }
            .joined(separator: "\n")
    }
}
