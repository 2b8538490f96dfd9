package import ArgumentParser
import Foundation
import TidemarkAssembly
package import TidemarkIdentity

/// Where the secret comes from that tokens are signed with. Never the command line itself: everybody on a machine can read that.
package struct SigningOptions: ParsableArguments {
    /// The workspace of whoever names none: one for all commands, so that they meet.
    package static let workspace = "default"

    @Option(
        help: ArgumentHelp(
            """
            The file that holds the signing secret in its first line, at least \(TokenSecret.bytesMin) bytes. \
            (environment: TIDEMARK_SECRET_FILE, the secret itself in TIDEMARK_SECRET, or the file of settings in \
            TIDEMARK_CONFIG)
            """, valueName: "file"))
    package var secretFile: String?

    @Flag(help: "Sign with the development secret that 'serve --dev' accepts.")
    package var dev = false

    package init() {}

    /// Reads the secret.
    ///
    /// - Throws: `CommandFailure` that says what is missing.
    package func secret() throws -> TokenSecret {
        let environment = ProcessInfo.processInfo.environment
        if dev { return try ServerSecret(Array(ServerSecret.development.utf8), from: .development).tokens }
        if let path = try Setting.secretFile.given(secretFile, environment) {
            guard let contents = FileManager.default.contents(atPath: path) else {
                throw CommandFailure("cannot read the secret file \(path)")
            }
            return try ServerSecret(Array(contents), from: .secretFile).tokens
        }
        guard let text = environment[Setting.secret.rawValue] else {
            throw CommandFailure(
                "no secret: give --secret-file, TIDEMARK_SECRET_FILE, TIDEMARK_SECRET, TIDEMARK_CONFIG or --dev")
        }
        return try ServerSecret(Array(text.utf8), from: .secret).tokens
    }
}
