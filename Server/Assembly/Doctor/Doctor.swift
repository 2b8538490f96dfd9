import Foundation
import Logging
package import NIOCore
import TidemarkIdentity
package import TidemarkModel

/// Looks at everything that an operator's figures and alerts look at, once: for who has no Prometheus, and before a server is put up.
///
/// Reads the same settings as the server, and the database beside it; writes nothing.
package struct Doctor: Sendable {
    package let environment: [String: String]
    /// From the command line.
    package let overrides: [Setting: String]
    /// Prometheus' text of a running server, as its listener for operators gives it; `nil` where none was named. Throws what is
    /// shown as the reason.
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

    /// Everything that was found, in the order of looking.
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
                // Who names a running server alone has not described one that is to be started.
                isDescribed = figures == nil
                if isDescribed {
                    found.append(
                        .look(
                            "settings", "neither a secret nor issuers were given",
                            why: "A server does not start without.",
                            do: "Give the doctor what the server is given: --secret-file or --issuers."))
                }
                // The operator's own token file, for calls to the running server, is not a setting of a server here.
                if !isDescribed { environment[Setting.adminTokenFile.rawValue] = nil }
                // Stands for the one that was not given, so that all else can be looked at.
                environment[Setting.secret.rawValue] = String(repeating: "-", count: TokenSecret.bytesMin)
            }
            configuration = try ServerConfiguration(environment: environment, overrides: overrides)
        } catch {
            found.append(
                .wrong(
                    "settings", "\(error)", why: "A server does not start with these settings.",
                    do: "Give the doctor what the server is given: the same options or environment."))
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
