import ArgumentParser
import Foundation
import TidemarkGateway

/// Where the secret comes from that tokens are signed with. Never the command line itself: everybody on a machine can read that.
struct SigningOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The file that holds the signing secret, at least \(TokenSecret.bytesMin) bytes.",
            discussion: "Environment: TIDEMARK_SECRET_FILE, or the secret itself in TIDEMARK_SECRET.",
            valueName: "file"))
    var secretFile: String?

    @Flag(help: "Sign with the development secret that 'serve --dev' accepts.")
    var dev = false

    /// Reads the secret.
    ///
    /// - Throws: `CommandFailure` that says what is missing.
    func secret() throws -> TokenSecret {
        let environment = ProcessInfo.processInfo.environment
        let text: String
        if let path = secretFile ?? environment["TIDEMARK_SECRET_FILE"] {
            do {
                text = try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .newlines)
            } catch {
                throw CommandFailure("cannot read the secret file \(path)")
            }
        } else if let value = environment["TIDEMARK_SECRET"] {
            text = value
        } else {
            throw CommandFailure("no secret: give --secret-file, TIDEMARK_SECRET_FILE, TIDEMARK_SECRET or --dev")
        }
        guard let secret = TokenSecret(Array(text.utf8)) else {
            throw CommandFailure("the secret is shorter than \(TokenSecret.bytesMin) bytes")
        }
        return secret
    }
}

/// A command failed for a reason that its user can read: exit status 1.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
