import ArgumentParser
import TidemarkModel

/// `tide bench live`.
struct BenchLive: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "live",
        abstract: "The cost of a message on a device that shows it, beside the same rows in SQLite alone.",
        discussion: """
            This process is the device, on the real socket; the writer and the server are processes of their own. A \
            figure is the device's cost until the newest 50 messages were shown and all resulting work was done, divided \
            by the number of messages: processor time and context switches as the system counts them (getrusage), bytes \
            for the disk as Linux counts them (/proc/self/io; other systems do not report them, and the rows are missing \
            there). Linux counts whole pages, up to 256 KiB for a few bytes, and a copy of the log into the file counts \
            as much as the file: compare bytes over --seconds 60 or more. SQLite's column is a durable insert into the \
            same table, with its indexes and without full-text search, and the newest 50 read back, at the same rate in \
            the same run. Other load on the processor increases \
            all of these figures.

            EXAMPLES
              tide bench live
              tide bench live --rates 10 --seconds 20 --burst 0
              tide bench live --strict --json
            """)

    @Option(help: ArgumentHelp("Messages a second, separated by commas.", valueName: "rates"))
    var rates = "1,50,1000"
    @Option(help: "Length of each rate.")
    var seconds = 5
    @Option(help: "Messages that are written as fast as the server takes them; 0 for none.")
    var burst = 20_000
    @Option(help: "Seconds in which nothing happens; 0 for none.")
    var idle = 20
    @Option(help: "Bytes of each message's text.")
    var bytes = 100
    @Flag(help: "Leave out the messenger, which also writes receipts.")
    var storeOnly = false
    @Flag(help: "Run the device as on iOS before 18 and macOS before 15, whose tasks take no executor.")
    var olderSystem = false
    @Flag(help: "End with status 1 when a limit is missed.")
    var strict = false
    @OptionGroup var target: BenchTargetOptions

    private var ratesAsked: [Int] { rates.split(separator: ",").compactMap { Int($0) } }

    func validate() throws {
        guard !ratesAsked.isEmpty, ratesAsked.count == rates.split(separator: ",").count else {
            throw ValidationError("--rates must be numbers with commas between them, not '\(rates)'.")
        }
        for rate in ratesAsked { try bound(rate, "--rates", 1...10_000) }
        try bound(seconds, "--seconds", 1...600)
        try bound(burst, "--burst", 0...1_000_000)
        try bound(idle, "--idle", 0...600)
        try bound(bytes, "--bytes", 21...60_000)
    }

    func run() async throws {
        let run = LiveRun(
            rates: ratesAsked, seconds: seconds, burst: burst, idle: idle, textBytes: bytes, hasChat: !storeOnly,
            prefersExecutors: !olderSystem)
        let table = try await target.prepared { try await run.run(on: $0) }
        try table.show(json: target.json, isStrict: strict)
    }
}

/// `tide bench live-writer`: the writer while `bench live` measures.
struct BenchLiveWriter: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "live-writer", abstract: "Write messages for 'bench live', which starts this.",
        shouldDisplay: false)

    @Option var server: String
    @Option var conversation: String
    @Option var count: Int
    @Option var rate: Int?
    @Option var bytes: Int

    func run() async throws {
        guard let id = UniqueID(conversation) else { throw ValidationError("--conversation must be an id.") }
        try await LiveLoad(server: server, conversation: id, count: count, rate: rate, textBytes: bytes).write()
    }
}
