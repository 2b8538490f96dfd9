import ArgumentParser
import Foundation
import TidemarkAssembly
import TidemarkCommandLine

/// `tide demo`: the main job, with crashes and a verdict.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Play real chat through several devices while the server is killed, and check the result.",
        discussion: """
            Starts a server of its own, opens devices with a SQLite file each, plays recorded chat through them (a day \
            is a conversation, joins and leaves are its members), takes devices off the network and back, kills the \
            server with SIGKILL and starts it again. At the end every device's file is compared with the server's rows. \
            Exit status 0 only if nothing was lost, duplicated, out of order or different.

            EXAMPLES
              tide demo
              tide demo --messages 20000 --clients 16 --kills 10 --seed 7
              tide demo --from chat.jsonl --folder /tmp/look
              tide demo --database postgres://tidemark@localhost/tidemark --nodes 2
              tide demo --database postgres://tidemark@localhost/tidemark --nodes 3 \\
                  --first-port 9101 --through https://localhost:8443 --trust ca.pem
            """)

    @Option(
        help: ArgumentHelp(
            """
            Recorded chat to play: a line is {"day","time","kind","nick","text"}; a kind is message, join or leave. \
            (default: a slice of #ubuntu that is built in; with other days and names when it is too short)
            """, valueName: "file"))
    var from: String?

    @Option(help: "Messages to play.")
    var messages = 5_000

    @Option(help: "Devices, each a user with a database of its own.")
    var clients = 8

    @Option(help: "Server processes on one database; more than one needs PostgreSQL.")
    var nodes = 1

    @Option(help: "The number of times that a server is killed.")
    var kills = 6

    @Option(
        help: """
            What the server stores in: sqlite:PATH or postgres://…. (environment: TIDEMARK_DATABASE; default: a new \
            SQLite file in the demo's folder)
            """)
    var database: String?

    @Option(
        help: "The seed of parts, offline times and kills. (default: another one each time)")
    var seed: UInt64?

    @Option(help: "Keep the devices' databases in this folder. (default: a temporary one)")
    var folder: String?

    @Option(
        help: ArgumentHelp(
            "A proxy before the servers that devices connect to, such as https://localhost:8443.", valueName: "url"))
    var through: String?

    @Option(
        help: ArgumentHelp(
            "PEM file of the authority that signed the proxy's certificate. (default: the system's)",
            valueName: "file"))
    var trust: String?

    @Option(
        help: ArgumentHelp(
            "Servers listen on this port of 127.0.0.1 and those after it. (default: free ones)", valueName: "port"))
    var firstPort: Int?

    func validate() throws {
        try bound(messages, "--messages", 1...10_000_000)
        try bound(clients, "--clients", 1...64)
        try bound(nodes, "--nodes", 1...8)
        try bound(kills, "--kills", 0...1_000)
        if let firstPort { try bound(firstPort, "--first-port", 1...65_528) }
        if through != nil, firstPort == nil {
            throw ValidationError("--through needs --first-port: a proxy must know where the servers are.")
        }
        guard kills < messages else { throw ValidationError("--kills must be fewer than --messages.") }
        guard nodes == 1 || storage?.hasPrefix("postgres") == true else {
            throw ValidationError("--nodes above 1 needs --database postgres://…: a SQLite file has one server.")
        }
    }

    private var storage: String? { database ?? ProcessInfo.processInfo.environment[Setting.database.rawValue] }

    func run() async throws {
        defer { ChildProcess.endAll() }
        let seed = seed ?? UInt64.random(in: 1...999_999)
        let recording = try from.map { try ChatScript.file($0) } ?? ChatScript.slice
        let progress = DemoProgress()
        let plan = DemoRun.Plan(
            messages: messages, devices: clients, kills: kills, nodes: nodes, seed: seed, database: storage,
            folder: folder, through: through, trustRootsFile: trust, firstPort: firstPort)
        progress.say(
            "playing \(messages.counted("message")) of \(from ?? "#ubuntu") on \(clients.counted("device")), "
                + "\(kills.counted("kill")) of "
                + "\(nodes == 1 ? "the server" : "\(nodes) servers"), seed \(seed)")
        let result = try await DemoRun(
            plan: plan, script: try ChatScript(recording, messages: messages), progress: progress
        ).run()
        show(result, progress)
        guard result.verdict.isClean, result.kills == kills else { throw ExitCode.failure }
    }

    private func show(_ result: DemoRun.Result, _ progress: DemoProgress) {
        let verdict = result.verdict
        let latencies = result.latencies.percentiles([0.5, 0.99])
        let seconds = Double(result.elapsed.components.seconds) + Double(result.elapsed.components.attoseconds) / 1e18
        for (label, value) in [
            ("messages", "\(verdict.messages) in \(result.conversations.counted("conversation"))"),
            ("deliveries", "\(verdict.deliveries)"),
            ("server killed", result.kills.counted("time")),
            ("lost", "\(verdict.lost)"),
            ("duplicated", "\(verdict.duplicated)"),
            ("out of order", "\(verdict.outOfOrder)"),
            ("different", "\(verdict.differing)"),
            (
                "written → visible elsewhere",
                String(
                    format: "p50 %.1f ms, p99 %.1f ms (%d samples with both online)", latencies[0], latencies[1],
                    result.latencies.count)
            ),
            ("wall time", String(format: "%.1f s", seconds)),
        ] {
            print("  \(label)\(String(repeating: " ", count: 29 - label.count))\(value)")
        }
        for defect in verdict.defects { print("  - \(defect)") }
        print(
            progress.coloured(
                verdict.isClean
                    ? "every device holds exactly what the server holds" : "FAILED: devices and server differ",
                isGood: verdict.isClean))
    }
}
