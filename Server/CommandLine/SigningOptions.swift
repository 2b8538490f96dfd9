package import ArgumentParser
import Foundation
import TidemarkAssembly
package import TidemarkIdentity

/// The source of the secret that signs tokens. It is never the command line itself, which anyone on the machine can
/// read.
package struct SigningOptions: ParsableArguments {
    /// The workspace of commands that name none: one for all of them, so that they meet.
    package static let workspace = "default"

    @Option(
        help: ArgumentHelp(
            """
            The file that holds the signing secret in its first line, at least \(TokenSecret.bytesMin) bytes. \
            (environment: TIDEMARK_SECRET_FILE, the secret itself in TIDEMARK_SECRET, or the file of settings in \
            TIDEMARK_CONFIG)
            """, valueName: "file"))
    package var secretFile: String?

    @OptionGroup package var development: DevelopmentOptions

    package init() {}

    /// Reads the secret.
    ///
    /// - Throws: `CommandFailure` with the missing options.
    package func secret() throws -> TokenSecret {
        guard let secret = try given() else {
            throw CommandFailure(
                "no secret: give --secret-file, TIDEMARK_SECRET_FILE, TIDEMARK_SECRET, TIDEMARK_CONFIG or --dev")
        }
        return secret
    }

    /// Reads the secret; `nil` if none is named.
    package func given() throws -> TokenSecret? {
        let environment = ProcessInfo.processInfo.environment
        if development.dev {
            return try ServerSecret(Array(try development.secret(.tokens).text.utf8), from: .development).tokens
        }
        if let path = try Setting.secretFile.given(secretFile, environment) {
            guard let contents = FileManager.default.contents(atPath: path) else {
                throw CommandFailure("cannot read the secret file \(path)")
            }
            return try ServerSecret(Array(contents), from: .secretFile).tokens
        }
        return try environment[Setting.secret.rawValue].map { text in
            try ServerSecret(Array(text.utf8), from: .secret).tokens
        }
    }
}
