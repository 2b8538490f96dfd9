package import ArgumentParser
import Foundation
package import TidemarkAssembly

/// Takes the secrets that a server which was started with `--dev` has made.
package struct DevelopmentOptions: ParsableArguments {
    @Flag(help: "Take the secrets that 'tidemark serve --dev' has made and keeps in its data folder.")
    package var dev = false

    @Option(
        help: ArgumentHelp(
            "With --dev: the data folder of that server. (default: that of TIDEMARK_DATABASE, or ./tidemark-data)",
            valueName: "folder"))
    package var devData: String?

    package init() {}

    /// Refuses a data folder that no `--dev` goes with.
    package func validate() throws {
        guard dev || devData == nil else { throw ValidationError("--dev-data goes with --dev.") }
    }

    /// The secret of such a server.
    ///
    /// - Throws: `CommandFailure` that says what to do where there is none.
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
