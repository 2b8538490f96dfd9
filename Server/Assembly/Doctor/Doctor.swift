import Foundation
import Logging
package import NIOCore
import TidemarkIdentity
package import TidemarkModel

/// Checks once everything that an operator's figures and alerts watch: for operators without Prometheus, and before a
/// server is installed.
///
/// Reads the same settings as the server, and the database beside it; writes nothing.
package struct Doctor: Sendable {
    package let environment: [String: String]
    /// The settings of the command line.
    package let overrides: [Setting: String]
    /// Fetches the text that a running server's listener for operators gives to Prometheus; `nil` if no server was
    /// named. The doctor shows a thrown error as the reason.
    package let figures: (@Sendable () async throws -> String)?
    package let eventLoops: any EventLoopGroup
    /// Milliseconds since 1970.
    package let now: @Sendable () -> Milliseconds

    package init(
        environment: [String: String], overrides: [Setting: String],
        figures: (@Sendable () async throws -> String)? = nil, eventLoops: any EventLoopGroup,
        now: @escaping @Sendable () -> Milliseconds
    ) {
        self.environment = environment
        self.overrides = overrides
        self.figures = figures
        self.eventLoops = eventLoops
        self.now = now
    }

    var logger: Logger { Logger(label: "tidemark") { _ in SwiftLogNoOpLogHandler() } }

    /// Returns all findings, in the order of the checks.
    package func examine() async -> [DoctorFinding] {
        var found: [DoctorFinding] = []
        var environment = environment
        let configuration: ServerConfiguration
        let values: SettingValues
        var isDescribed = true
        do throws(ConfigurationError) {
            values = try SettingValues(environment: environment, overrides: overrides)
            let hasProof = [Setting.secret, .secretFile, .issuers].contains { values[$0] != nil }
            let isDevelopment = try values.flag(.development)
            if !hasProof, !isDevelopment {
                // With only a running server named, there is no server to be started whose settings could be judged.
                isDescribed = figures == nil
                if isDescribed {
                    found.look(
                        "settings", "neither a secret nor issuers were given",
                        why: "A server does not start without one of them.",
                        do: "Give the doctor what the server is given: --secret-file or --issuers.")
                }
                // The operator's own token file, for calls to the running server, is not a setting of a server here.
                if !isDescribed { environment[Setting.adminTokenFile.rawValue] = nil }
                // Replaces the missing secret, so that everything else can be checked.
                environment[Setting.secret.rawValue] = String(repeating: "-", count: TokenSecret.bytesMin)
            }
            configuration = try ServerConfiguration(environment: environment, overrides: overrides)
        } catch {
            found.wrong(
                "settings", "\(error)", why: "A server does not start with these settings.",
                do: "Give the doctor what the server is given: the same options or environment.")
            return found + (await running(nil))
        }
        guard isDescribed else {
            if values[.database] != nil { found += await database(configuration) }
            return found + (await running(configuration))
        }
        found += settings(configuration)
        found += files(configuration, values)
        found += limits(configuration, OpenFiles.most)
        found += await database(configuration)
        found += await issuers(configuration)
        return found + (await running(configuration))
    }
}
