package import ArgumentParser
import Foundation
package import TidemarkAssembly

/// The options for the secrets that a server in development mode has made.
package struct DevelopmentOptions: ParsableArguments {
    @Flag(help: "Use the secrets that 'tidemark serve --dev' has made and keeps in its data folder.")
    package var dev = false

    @Option(
        help: ArgumentHelp(
            "With --dev: the data folder of that server. (default: that of TIDEMARK_DATABASE, or ./tidemark-data)",
            valueName: "folder"))
    package var devData: String?

    package init() {}

    /// Refuses a data folder without `--dev`.
    package func validate() throws {
        guard dev || devData == nil else { throw ValidationError("--dev-data needs --dev.") }
    }

    /// Returns the secret of such a server.
    ///
    /// - Throws: `CommandFailure` with the remedy if there is none.
    package func secret(_ purpose: DevelopmentSecret.Purpose) throws -> DevelopmentSecret {
        do throws(ConfigurationError) {
            if let devData { return try DevelopmentSecret(kept: purpose, in: devData) }
            let location = try DatabaseLocation(given: nil, ProcessInfo.processInfo.environment)
            return try DevelopmentSecret(kept: purpose, in: location.dataFolder)
        } catch {
            throw CommandFailure(error.reason)
        }
    }
}
