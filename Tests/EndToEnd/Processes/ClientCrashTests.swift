import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import TidemarkDaemon

/// What a client process has made durable is sent once, whenever the process dies.
@Suite struct ClientCrashTests {
    /// `KILLS` raises it.
    static let kills = Int(ProcessInfo.processInfo.environment["KILLS"] ?? "") ?? 200
    static let seed = UInt64(ProcessInfo.processInfo.environment["SEED"] ?? "") ?? 7

    @Test(.timeLimit(.minutes(5)))
    func `a client process that is killed at random moments of a storm of writes loses and repeats nothing`()
        async throws
    {
        let server = try await LiveServer.start()
        let conversation = LoadTarget.newClient()
        let (opening, _) = try await RawClient(server, user: "ann").connect(1, isNew: true)
        try await opening.push(Push(first: 1, ackedThrough: 0, entries: [.init(.opening(conversation, ["ann"]))]))
        _ = try await opening.settled(through: 1)

        let folder = try TemporaryFolder("tidemark-storm")
        let schema = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../ClientSDK/Chat/Resources/chat.schema.json").standardizedFileURL.path
        let token = try server.token("ann")
        func start(last: Int64) throws -> ChildProcess {
            try ChildProcess(
                try Binary.path(of: "StormWriter"),
                [
                    "http://\(server.address)", token, folder.path, schema, conversation.description, "\(last)",
                ])
        }

        var dice = StormDice(seed: Self.seed)
        var durable: Int64 = 0
        for _ in 0..<Self.kills {
            let child = try start(last: .max)
            // Counted from the first line: some die before their first write, some in the middle of a push.
            var left = Int.random(in: 0...40, using: &dice)
            for await line in child.lines {
                let number = try #require(line.split(separator: " ").last.flatMap { Int64($0) }, "\(line)")
                #expect(number >= durable, "what was durable is gone: \(line) after \(durable)")
                durable = max(durable, number)
                left -= 1
                if left < 0 { break }
            }
            child.signal(SIGKILL)
            #expect(await child.ended() == 128 + SIGKILL)
        }
        let last = durable + 50
        let child = try start(last: last)
        var lines: [String] = []
        for await line in child.lines { lines.append(line) }
        #expect(await child.ended() == 0)
        #expect(lines.last == "done \(last) parked 0")
        #expect(try await server.process.stop() == 0)
        let truth = try await server.truth([conversation])
        #expect(truth.messages.sorted { $0.born < $1.born }.map(\.order) == Array(1...last))
        #expect(Set(truth.messages.map(\.id)).count == Int(last))
    }
}

/// SplitMix64.
private struct StormDice: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }
}
