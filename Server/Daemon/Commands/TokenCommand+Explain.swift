import ArgumentParser
import Foundation
import Logging
import NIOPosix
import TidemarkAssembly
import TidemarkCommandLine
import TidemarkIdentity
import TidemarkModel

extension TokenCommand {
    /// `tidemark token explain`: explains why a token is accepted or refused.
    struct Explain: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "explain",
            abstract: "Print whose token this is, which keys are known, and which check fails.",
            discussion: """
                Checks a token as a server with the same settings does, and fetches keys that are at a URL. Prints the \
                token's claims and the expected ones, but neither signatures nor secrets.

                Exit status: 0 accepted, 1 refused, 2 the keys cannot be fetched, 64 wrong usage.

                EXAMPLES
                  tidemark token explain "$TOKEN" --issuers issuers.json
                  tidemark token explain - --dev < token
                """)

        /// The parent command, whose shared options apply wherever they are given.
        @ParentCommand var parent: TokenCommand

        @Argument(help: "The token; - reads it from standard input, which no list of processes shows.")
        var token: String

        @Option(
            help: ArgumentHelp(
                "The issuers, as 'tidemark serve' takes them. (environment: TIDEMARK_ISSUERS)", valueName: "file"))
        var issuers: String?

        @Option(
            help: ArgumentHelp(
                """
                The file that holds the secret for the server's own tokens. (environment: TIDEMARK_SECRET_FILE, or the \
                secret itself in TIDEMARK_SECRET)
                """, valueName: "file"))
        var secretFile: String?

        @OptionGroup var development: DevelopmentOptions

        func run() async throws {
            var overrides: [Setting: String] = [:]
            if let issuers { overrides[.issuers] = issuers }
            if let secretFile = secretFile ?? parent.signing.secretFile { overrides[.secretFile] = secretFile }
            if development.dev || parent.signing.development.dev { overrides[.development] = "1" }
            let accepted: [Issuer]
            do throws(ConfigurationError) {
                accepted = try await ServerConfiguration.acceptedIssuers(
                    environment: ProcessInfo.processInfo.environment, overrides: overrides,
                    developmentData: development.devData ?? parent.signing.development.devData)
            } catch {
                throw CommandFailure("\(error)")
            }
            let explanation = await explain(try text(), accepted)
            for line in explanation.lines { print(Self.words(line)) }
            switch explanation.outcome {
            case .accepted: break
            case .refused: throw ExitCode(1)
            case .unavailable: throw ExitCode(2)
            }
        }

        private func text() throws -> String {
            guard token == "-" else { return token }
            // Longer ones are refused unread.
            let bytes = try FileHandle.standardInput.read(upToCount: 65_536) ?? Data()
            return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }

        private func explain(_ text: String, _ issuers: [Issuer]) async -> TokenExplanation {
            let logger = Logger(label: "tidemark") { _ in SwiftLogNoOpLogHandler() }
            let keys = KeyService(
                for: issuers, now: wallClock, logger: logger,
                fetch: KeyFetch(group: MultiThreadedEventLoopGroup.singleton).callAsFunction)
            let verifier = TokenVerifier(issuers, keys: keys, now: wallClock)
            return await withTaskGroup(of: TokenExplanation?.self) { group in
                group.addTask {
                    await keys.run()
                    return nil
                }
                group.addTask {
                    await TokenExplanation(of: text, by: verifier, now: wallClock()) { time in
                        Date(timeIntervalSince1970: Double(time) / 1_000).formatted(.iso8601)
                    }
                }
                defer { group.cancelAll() }
                for await explanation in group { if let explanation { return explanation } }
                preconditionFailure("one of two tasks ends with an explanation")
            }
        }

        private static func words(_ line: TokenExplanation.Line) -> String {
            switch line {
            case .fact(let name, let text):
                name + String(repeating: " ", count: max(1, 12 - name.count)) + text
            case .verdict(let text): text
            }
        }
    }
}
