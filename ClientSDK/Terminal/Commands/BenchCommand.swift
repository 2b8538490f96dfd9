import ArgumentParser
import Foundation
import Tidemark
import TidemarkAssembly
import TidemarkCommandLine

/// `tide bench`: measures this machine, over the real wire.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure a server over its real wire: writes, fan-out, catch-up, idle connections.",
        discussion: """
            The load generator is one thread of this process with sockets of its own; it starts a server process on a \
            new database unless --server names one. Build with '-c release' for valid figures.

            EXAMPLES
              tide bench writes --writers 256 --seconds 10
              tide bench writes --database postgres://tidemark@localhost/bench --json
              tide bench fanout --subscribers 100 --rate 1000
              tide bench catchup --records 200000 --clients 4
              tide bench idle --connections 10000
              tide bench scopes --scopes 10000 --strict
              tide bench live --strict
            """,
        subcommands: [
            BenchWrites.self, BenchFanOut.self, BenchCatchUp.self, BenchIdle.self, BenchSDK.self,
            BenchScopes.self, BenchLocal.self, BenchLive.self, BenchLiveWriter.self, BenchAll.self,
        ])
}

/// The server of a benchmark, and the form of the report.
struct BenchTargetOptions: ParsableArguments {
    @Option(
        help: """
            Measure this server instead of starting one: http://host:port, or https://host:port through a relay of \
            this process, whose work is then part of the figures. Tokens are signed with the secret of --secret-file, or of \
            the environment.
            """)
    var server: String?

    @OptionGroup var trust: TrustOption

    @Option(help: ArgumentHelp("The process id of that server, to read its memory.", valueName: "pid"))
    var serverProcess: Int32?

    @Option(
        help: """
            What the started server stores in: sqlite:PATH or postgres://…. (default: a new SQLite file in a temporary \
            folder)
            """)
    var database: String?

    @Flag(help: "End with one line that holds the figures as a JSON object.")
    var json = false

    @OptionGroup var signing: SigningOptions

    func validate() throws {
        if server != nil, database != nil { throw ValidationError("--server and --database exclude each other.") }
        if let server, secureServer == nil, ListenAddress(announcedIn: server) == nil {
            throw ValidationError("--server must be http://host:port or https://host:port, not '\(server)'.")
        }
    }

    /// The address of a server with TLS.
    var secureServer: ServerAddress? {
        // An invalid address is reported as an invalid plain HTTP address.
        guard let server, let address = try? ServerAddress(server), address.usesTLS, address.path.isEmpty
        else { return nil }
        return address
    }

    /// Runs one benchmark on a prepared server, shows its report, and stops the server.
    func measure(_ run: (LoadTarget) async throws -> BenchReport) async throws {
        let start = StolenTime()
        var report = try await prepared(run)
        report.addStolenTime(since: start)
        report.show(json: json)
    }

    /// Runs something on a prepared server, and stops the server.
    func prepared<Outcome>(_ run: (LoadTarget) async throws -> Outcome) async throws -> Outcome {
        defer { ChildProcess.endAll() }
        let target = try await LoadTarget.prepare(self)
        let outcome = try await run(target)
        try await target.end()
        return outcome
    }
}

/// `tide bench writes`.
struct BenchWrites: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "writes", abstract: "Acknowledged durable writes a second.")

    @Option(help: "Writers, each with a connection, a user and a client id of its own.")
    var writers = 256
    @Option(help: "Writers who share a conversation: each write is delivered to so many members.")
    var sharing = 1
    @Option(
        help: """
            Writes of each writer that wait to be acknowledged at the same time, sent together as from the SDK's outbox, \
            which has more of them on their way. With 1, each write waits for the one before it.
            """)
    var inFlight = 1
    @Option(help: "Length of the measurement, after a second of warm-up.")
    var seconds = 8
    @Option(help: "Bytes of each message's text.")
    var bytes = 100
    @OptionGroup var target: BenchTargetOptions

    func validate() throws {
        try bound(writers, "--writers", 1...10_000)
        try bound(sharing, "--sharing", 1...256)
        try bound(inFlight, "--in-flight", 1...1_000)
        try bound(seconds, "--seconds", 1...600)
        try bound(bytes, "--bytes", 21...60_000)
    }

    func run() async throws {
        let run = WritesRun(
            writers: writers, sharing: sharing, inFlight: inFlight, seconds: seconds, textBytes: bytes)
        try await target.measure { try await run.run(on: $0) }
    }
}

/// `tide bench fanout`.
struct BenchFanOut: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fanout",
        abstract: "Deliveries to many subscribers of one conversation: as many as possible, or their age at a rate.",
        discussion: """
            Ages are measured from the server's stamp, which it takes before the commit, so they include the disk's \
            time; and from the writer's push. With --server on another machine, the first depends on both clocks.
            """)

    @Option(help: "Connections that read.")
    var subscribers = 500
    @Option(help: "Connections that write.")
    var writers = 32
    @Option(help: "Length of the measurement, after a second of warm-up.")
    var seconds = 8
    @Option(help: "Writes a second over all writers; without it they write as fast as they are settled.")
    var rate: Int?
    @Option(help: "Bytes of each message's text.")
    var bytes = 100
    @OptionGroup var target: BenchTargetOptions

    func validate() throws {
        try bound(subscribers, "--subscribers", 1...9_000)
        try bound(writers, "--writers", 1...900)
        try bound(seconds, "--seconds", 1...600)
        try bound(bytes, "--bytes", 21...60_000)
        if let rate { try bound(rate, "--rate", 1...1_000_000) }
    }

    func run() async throws {
        let run = FanOutRun(
            subscribers: subscribers, writers: writers, seconds: seconds, rate: rate, textBytes: bytes)
        try await target.measure { try await run.run(on: $0) }
    }
}

/// `tide bench catchup`.
struct BenchCatchUp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "catchup", abstract: "Records a second that returning clients receive.")

    @Option(help: "Records to load and then to pull.")
    var records = 100_000
    @Option(help: "Clients that pull at the same time, each all of the records.")
    var clients = 1
    @Option(help: "Bytes of each message's text.")
    var bytes = 100
    @OptionGroup var target: BenchTargetOptions

    func validate() throws {
        try bound(records, "--records", 1...10_000_000)
        try bound(clients, "--clients", 1...200)
        try bound(bytes, "--bytes", 21...60_000)
    }

    func run() async throws {
        let run = CatchUpRun(records: records, clients: clients, textBytes: bytes)
        try await target.measure { try await run.run(on: $0) }
    }
}

/// `tide bench idle`.
struct BenchIdle: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "idle", abstract: "Server memory of a silent connection.")

    @Option(help: "Connections to open and welcome.")
    var connections = 5_000
    @OptionGroup var target: BenchTargetOptions

    func validate() throws { try bound(connections, "--connections", 1...19_000) }

    func run() async throws {
        let run = IdleRun(connections: connections)
        try await target.measure { try await run.run(on: $0) }
    }
}

/// `tide bench sdk`.
struct BenchSDK: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sdk", abstract: "The client by itself: local writes, and applying a catch-up. Starts no server.")

    @Option(help: "Local writes to time.")
    var writes = 2_000
    @Option(help: "Records of the catch-up.")
    var records = 100_000
    @Option(help: "Bytes of each message's text.")
    var bytes = 100
    @Flag(help: "End with one line that holds the figures as a JSON object.")
    var json = false

    func validate() throws {
        try bound(writes, "--writes", 1...1_000_000)
        try bound(records, "--records", 1...1_000_000)
        try bound(bytes, "--bytes", 1...60_000)
    }

    func run() async throws {
        try await SDKRun(writes: writes, records: records, textBytes: bytes).run().show(json: json)
    }
}

/// `tide bench all`.
struct BenchAll: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "all", abstract: "Every benchmark with its default size, one after the other, on new servers.")

    @OptionGroup var target: BenchTargetOptions

    func run() async throws {
        try await target.measure { try await WritesRun().run(on: $0) }
        try await target.measure { try await FanOutRun().run(on: $0) }
        try await target.measure { try await FanOutRun(subscribers: 100, rate: 1_000).run(on: $0) }
        try await target.measure { try await CatchUpRun().run(on: $0) }
        if target.server == nil || target.serverProcess != nil {
            try await target.measure { try await IdleRun().run(on: $0) }
        }
        try await SDKRun().run().show(json: target.json)
        var local = try await LocalRun().run()
        var inStep = InStepRun()
        try await target.prepared { try await inStep.run(on: $0, &local) }
        try local.show(json: target.json)
        try await target.prepared { try await ScopesRun().run(on: $0).show(json: target.json) }
        try await target.prepared { try await LiveRun().run(on: $0).show(json: target.json) }
    }
}

/// Refuses a number outside of its bounds: exit status 64.
func bound(_ value: Int, _ name: String, _ range: ClosedRange<Int>) throws {
    guard range.contains(value) else {
        throw ValidationError("\(name) must be from \(range.lowerBound) to \(range.upperBound), not \(value).")
    }
}
