import ArgumentParser

/// `tide bench local`.
struct BenchLocal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "local",
        abstract: "The client's file beside SQLite's C API on the same file, with the limits to keep.",
        discussion: """
            At the end, two devices on real sockets, with a server on this machine: the time until a write is answered, \
            and until both devices have the same data.
            """)

    @Option(help: "Messages of the long conversation.")
    var messages = 100_000
    @Option(help: "Conversations in all.")
    var conversations = 1_000
    @Option(help: "The number of times that each operation is measured.")
    var rounds = 200
    @Flag(help: "End with status 1 when a limit is missed.")
    var strict = false
    @Option(help: "Multiply the limits by this: for builds that are not optimised, and busy machines.")
    var slack = 1.0
    @Flag(help: "Run both devices as on iOS before 18 and macOS before 15, whose tasks take no executor.")
    var olderSystem = false
    @OptionGroup var target: BenchTargetOptions

    func validate() throws {
        try bound(messages, "--messages", 1...10_000_000)
        try bound(conversations, "--conversations", 2...100_000)
        try bound(rounds, "--rounds", 1...100_000)
        guard (1...1_000).contains(slack) else {
            throw ValidationError("--slack must be from 1 to 1000, not \(slack).")
        }
    }

    func run() async throws {
        var table = try await LocalRun(messages: messages, conversations: conversations, rounds: rounds).run()
        var inStep = InStepRun(rounds: rounds, prefersExecutors: !olderSystem)
        try await target.prepared { try await inStep.run(on: $0, &table) }
        table.slack = slack
        try table.show(json: target.json, isStrict: strict)
    }
}
