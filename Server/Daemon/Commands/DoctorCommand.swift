import ArgumentParser
import Foundation
import NIOPosix
import TidemarkAssembly
import TidemarkCommandLine
import TidemarkWire

/// `tidemark doctor`: reports what is risky, or about to go wrong.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check settings, database, clocks, disk, limits, keys, certificate and backups.",
        discussion: """
            Give it the server's settings, by environment or options. It reads them and the database beside the \
            server, and writes nothing. With --server it also asks a running server for its figures.

            Each finding says what was found, why it matters, and what to do.

            Exit status: 0 all is well, 1 something needs a look, 2 something is wrong, 64 wrong usage.

            EXAMPLES
              tidemark doctor --secret-file token_secret \\
                  --database postgres://tidemark@db/tidemark
              tidemark doctor --server http://127.0.0.1:8081
              tidemark doctor --json
            """)

    @OptionGroup var settings: ServeSettings

    @Option(
        help: ArgumentHelp(
            "The listener for operators of a running server, such as http://127.0.0.1:8081.", valueName: "url"))
    var server: String?

    @Flag(help: "Print the findings as JSON, also those that are well.")
    var json = false

    private struct Report: Encodable {
        var version: String
        var protocolVersion: Int64
        var status: DoctorFinding.Level
        var findings: [DoctorFinding]

        enum CodingKeys: String, CodingKey {
            case version, status, findings
            case protocolVersion = "protocol"
        }
    }

    func run() async throws {
        let (environment, overrides, _) = try settings.given(ProcessInfo.processInfo.environment)
        var figures: (@Sendable () async throws -> String)?
        if let server {
            let call = try OperatorCall("GET", "/metrics", at: server, token: "", body: [])
            figures = {
                let (status, body) = try await call.answer()
                guard status == 200 else { throw CommandFailure("\(server) answers \(status)") }
                return String(decoding: body, as: UTF8.self)
            }
        }
        let doctor = Doctor(
            environment: environment, overrides: overrides, figures: figures,
            eventLoops: MultiThreadedEventLoopGroup.singleton, now: wallClock)
        let findings = await doctor.examine()
        let status = findings.map(\.level).max() ?? .well
        if json { print(try text(findings, status)) } else { tell(findings) }
        switch status {
        case .well: break
        case .look: throw ExitCode(1)
        case .wrong: throw ExitCode(2)
        }
    }

    private func text(_ findings: [DoctorFinding], _ status: DoctorFinding.Level) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let report = Report(
            version: ProgramVersion.number, protocolVersion: WireVersion.current, status: status, findings: findings)
        return String(decoding: try encoder.encode(report), as: UTF8.self)
    }

    private func tell(_ findings: [DoctorFinding]) {
        print(ProgramVersion.text(of: "tidemark"))
        for finding in findings {
            let word = finding.level.rawValue.uppercased()
            let start = word + String(repeating: " ", count: max(1, 7 - word.count)) + finding.check + ": "
            print(start + finding.what)
            for more in [finding.why, finding.remedy] where !more.isEmpty {
                for line in TextFlow.lines(more, width: 90) { print("       \(line)") }
            }
        }
    }
}
