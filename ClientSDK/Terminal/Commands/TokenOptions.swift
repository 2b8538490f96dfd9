import ArgumentParser
import Foundation
import TidemarkCommandLine
import TidemarkIdentity

/// The options for a device's token.
struct TokenOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("A token; prefer --token-file or TIDEMARK_TOKEN, which no list of processes shows."))
    var token: String?

    @Option(help: ArgumentHelp("The file with a token; it is read again for each connection.", valueName: "file"))
    var tokenFile: String?

    @Option(help: "The workspace, for tokens that are made from a secret.")
    var workspace = SigningOptions.workspace

    @OptionGroup var signing: SigningOptions

    /// Returns a function with the user's token for each connection. A token of another user would write in that user's
    /// name into this user's database.
    ///
    /// - Parameter advice: the advice for a token of this other user.
    /// - Throws: `CommandFailure` that says what is missing; the function throws one for another user's token.
    func tokens(
        advice: @escaping @Sendable (_ user: String) -> String
    ) async throws -> @Sendable (_ user: String) throws -> String {
        let given = try await given()
        return { user in
            let text = try given(user)
            if let other = TokenUser.claimed(by: text), other != user {
                throw CommandFailure("the token is that of \(other), not of \(user): \(advice(other))")
            }
            return text
        }
    }

    private func given() async throws -> @Sendable (_ user: String) throws -> String {
        if let path = tokenFile {
            return { _ in
                guard let bytes = FileManager.default.contents(atPath: path) else {
                    throw CommandFailure("cannot read the token file \(path)")
                }
                return String(decoding: Array(bytes).withoutMark, as: UTF8.self).trimmingCharacters(
                    in: .whitespacesAndNewlines)
            }
        }
        if let token = token ?? ProcessInfo.processInfo.environment["TIDEMARK_TOKEN"] { return { _ in token } }
        guard let secret = try signing.given() else {
            throw CommandFailure("no token: give --token-file, TIDEMARK_TOKEN, --secret-file or --dev")
        }
        let issuer = await TokenIssuer(secret: secret, now: wallClock)
        return { [workspace] user in try issuer.issue(user: user, workspace: workspace, lifetime: .seconds(3_600)) }
    }
}
