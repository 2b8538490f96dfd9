import ArgumentParser
import TidemarkCommandLine

/// `tide bench local`.
struct BenchLocal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "local",
        abstract: "The client's file beside SQLite's C API on the same file, with the limits it has to keep.")

    @Option(help: "Messages of the long conversation.")
    var messages = 100_000
    @Option(help: "Conversations in all.")
    var conversations = 1_000
    @Option(help: "How often each thing is done.")
    var rounds = 200
    @Flag(help: "End with status 1 when a limit is missed.")
    var strict = false
    @Flag(help: "End with one line that holds the figures as a JSON object.")
    var json = false

    func validate() throws {
        try bound(messages, "--messages", 1...10_000_000)
        try bound(conversations, "--conversations", 2...100_000)
        try bound(rounds, "--rounds", 1...100_000)
    }

    func run() async throws {
        let table = try await LocalRun(messages: messages, conversations: conversations, rounds: rounds).run()
        table.show(json: json)
        if strict, !table.missed.isEmpty {
            throw CommandFailure("missed: \(table.missed.joined(separator: "; "))")
        }
    }
}
