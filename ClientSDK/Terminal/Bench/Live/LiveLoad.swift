import Foundation
import NIOCore
import TidemarkAssembly
import TidemarkCommandLine
import TidemarkModel
import TidemarkWire

/// A writer in a process of its own, whose cost is not counted as the device's.
struct LiveLoad: Sendable {
    /// The longest time from the start to the welcome.
    private static let startMax: Duration = .seconds(30)
    /// The line that reports the welcome.
    private static let ready = "ready"
    /// The environment variable of the token, which no list of processes shows.
    private static let tokenName = "TIDEMARK_BENCH_TOKEN"
    /// The pause between the welcome and the first message, for the first reading of the counters.
    private static let pause: TimeAmount = .milliseconds(300)

    var server: String
    var conversation: LocalID
    var count: Int
    /// The messages per second; `nil` writes as fast as they are settled.
    var rate: Int?
    var textBytes = 100

    // MARK: The device's side

    /// Starts the process and returns when it is about to write.
    func start(token: String) async throws -> LiveWriter {
        var arguments = [
            "bench", "live-writer", "--server", server, "--conversation", "\(conversation)", "--count", "\(count)",
            "--bytes", "\(textBytes)",
        ]
        if let rate { arguments += ["--rate", "\(rate)"] }
        let child = try ChildProcess(
            ServerProcess.executablePath, arguments, environment: [Self.tokenName: token])
        try await withTimeout(Self.startMax, "the writer did not begin") {
            for await line in child.lines {
                guard line != Self.ready else { return }
                throw BenchError("the writer: \(line)")
            }
            throw BenchError("the writer ended before it began")
        }
        return LiveWriter(child: child)
    }

    // MARK: The process

    /// Writes all messages and waits until they are settled.
    func write() async throws {
        guard let token = ProcessInfo.processInfo.environment[Self.tokenName] else {
            throw BenchError("\(Self.tokenName) is not set: 'tide bench live' starts this")
        }
        guard let address = ListenAddress(announcedIn: server) else {
            throw BenchError("--server: \(server) is not http://host:port")
        }
        let ground = try LoadGround(address: address)
        let crew = try await ground.make { LoadCrew(ground) }
        let hello = Hello(
            token: token, client: LoadTarget.newClient(), isNewClient: true, connection: 1, cursor: nil, scopes: [],
            app: "tide bench")
        let plan = Publisher.Plan(
            inFlight: 1_000, pushMax: rate == nil ? 50 : 1, transactionsMax: Int64(count), isPaced: rate != nil)
        try await crew.openPublishers(1, on: ground) { _ in
            Publisher(
                hello: hello,
                template: PushTemplate(
                    conversation: conversation, seed: .random(in: 0 ... .max), textBytes: textBytes), plan: plan)
        }
        TerminalOutput.write("\(Self.ready)\n")
        try await ground.pause(Self.pause)
        try await begin(crew, on: ground)
        let seconds = rate.map { count / $0 } ?? 0
        try await crew.wait(on: ground, for: "writing", atMost: .seconds(Int64(seconds) + 120)) { crew in
            crew.publishers.allSatisfy(\.isDone)
        }
        let last = try await ground.run {
            defer { crew.value.disband() }
            return crew.value.publishers.first?.lastStamp ?? 0
        }
        TerminalOutput.write("\(LiveWriter.last)\(last)\n")
    }

    private func begin(_ crew: NIOLoopBound<LoadCrew>, on ground: LoadGround) async throws {
        let rate = rate
        try await ground.run {
            for publisher in crew.value.publishers { publisher.start() }
            guard let rate else { return }
            let began = NIODeadline.now()
            let sent = NIOLoopBoundBox(0, eventLoop: ground.loop)
            let pace: TimeAmount = rate > 100 ? .milliseconds(1) : .milliseconds(Int64(1_000 / (rate * 2)))
            ground.loop.scheduleRepeatedTask(initialDelay: pace, delay: pace) { task in
                guard let publisher = crew.value.publishers.first else { return task.cancel() }
                let due = Int((NIODeadline.now() - began).seconds * Double(rate))
                while sent.value < due {
                    publisher.push()
                    sent.value += 1
                }
            }
        }
    }
}

/// The writing process.
struct LiveWriter: Sendable {
    /// The prefix of the line with the time of the last message.
    fileprivate static let last = "last "

    fileprivate let child: ChildProcess

    /// Returns when all messages are settled at the server, with the time of the last message by the clock in its text.
    func finish() async throws -> UInt64 {
        var said = "nothing"
        for await line in child.lines {
            said = line
            if line.hasPrefix(Self.last), let stamp = UInt64(line.dropFirst(Self.last.count)) { return stamp }
        }
        throw BenchError("the writer ended before it was done: \(said)")
    }
}
