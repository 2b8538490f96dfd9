import Foundation
import Tidemark
import TidemarkCommandLine
import TidemarkModel
import TidemarkNIOTransport

/// Two devices of one user and a server on this machine: measures how soon a write is answered, and both devices have
/// the same data.
struct InStepRun {
    /// The writes that wait on an offline device, and those made elsewhere meanwhile.
    private static let (pendingCount, missedCount) = (10, 100)
    private static let waitMax = Duration.seconds(120)

    /// The number of times that each operation is done.
    var rounds = 200

    private let clock = ContinuousClock()
    /// The number of messages that both have written so far.
    private var written = 0

    /// False for devices whose tasks use no executor.
    private let prefersExecutors: Bool

    init(rounds: Int = 200, prefersExecutors: Bool = true) {
        self.rounds = rounds
        self.prefersExecutors = prefersExecutors
    }

    mutating func run(on target: LoadTarget, _ table: inout LimitTable) async throws {
        let folder = try TemporaryFolder("tidemark-bench")
        defer { withExtendedLifetime(folder) {} }
        let conversation = LoadTarget.newClient()
        try await Conversations.make([.init(id: conversation, members: [LiveDevice.user])], at: target)
        let one = try await LiveDevice.open(
            named: "one", in: folder, conversation, at: target, prefersExecutors: prefersExecutors)
        let other = try await LiveDevice.open(
            named: "other", in: folder, conversation, at: target, prefersExecutors: prefersExecutors)
        try await one.ready()
        try await other.ready()
        try await live(one, other, &table)
        try await away(one, other, target, &table)
        try await one.close()
        try await other.close()
    }

    /// Measures while both are connected.
    private mutating func live(_ one: LiveDevice, _ other: LiveDevice, _ table: inout LimitTable) async throws {
        var (answered, arrived) = (LatencyLog(), LatencyLog())
        let newest = other.store.repository(DemoMessage.self).observe(
            order: [.by(\.sentAt, .descending)], limit: LiveDevice.page, in: .of(one.conversation))
        try await newest.observed { screen in
            for _ in 0..<rounds {
                let (message, began) = (Self.message(in: one), clock.now)
                let receipt = try await one.store.repository(DemoMessage.self).create(message)
                guard case .committed = try await receipt.steps.last() else { throw BenchError("a write was refused") }
                written += 1
                answered.record(nanoseconds: UInt64((clock.now - began) / .nanoseconds(1)))
                let shown = try await screen.first { page in page.contains { $0.id == message.id } }
                arrived.record(nanoseconds: UInt64((shown - began) / .nanoseconds(1)))
            }
        }
        let (answer, arrival) = (answered.percentiles([0.5, 0.99]), arrived.percentiles([0.5, 0.99]))
        table.add("answered", "written, then answered by the server", answer[0])
        table.add("answered_p99", "  the same, p99", answer[1], .below(200, "S3.6"))
        table.add("arrived", "written, then shown on another device", arrival[0], .below(100, "S4.2"))
        table.add("arrived_p99", "  the same, p99", arrival[1], .below(1_000, "S0.6"), .below(2_000, "S4.2"))
        let began = clock.now
        try await write(Self.missedCount, on: one)
        try await inStep(one, other)
        table.add(
            "hundred", "\(Self.missedCount) messages written, then on both", (clock.now - began) / .milliseconds(1),
            .below(5_000, "S0.12"))
    }

    /// Measures from the call to connect: one device was offline and wrote, and the other wrote more.
    private mutating func away(
        _ one: LiveDevice, _ other: LiveDevice, _ target: LoadTarget, _ table: inout LimitTable
    ) async throws {
        let token = try target.token(for: LiveDevice.user)
        var (pushed, inStep) = (LatencyLog(), LatencyLog())
        for _ in 0..<max(3, rounds / 20) {
            await one.store.disconnect()
            try await write(Self.pendingCount, on: one)
            try await write(Self.missedCount, on: other)
            let began = clock.now
            try one.store.connect(to: target.ground.address.url, transport: NIOTransport()) { token }
            try await withTimeout(Self.waitMax, "what waited was not sent") { [store = one.store] in
                for await status in store.status where status.connection == .live && status.pending == 0 { break }
            }
            pushed.record(nanoseconds: UInt64((clock.now - began) / .nanoseconds(1)))
            try await self.inStep(one, other)
            inStep.record(nanoseconds: UInt64((clock.now - began) / .nanoseconds(1)))
        }
        table.add(
            "pending", "back with \(Self.pendingCount) pending, then sent, longest", pushed.percentiles([1])[0],
            .below(2_000, "S3.6"))
        table.add(
            "in_step", "  then both in step, \(Self.missedCount) missed, longest", inStep.percentiles([1])[0],
            .below(1_000, "S3.6"), .below(5_000, "S0.10"))
    }

    private mutating func write(_ count: Int, on device: LiveDevice) async throws {
        written += count
        try await device.store.write(.inParts) { batch in
            for _ in 0..<count { batch.create(Self.message(in: device)) }
        }
    }

    /// Waits until all messages of both are settled on both.
    private func inStep(_ devices: LiveDevice...) async throws {
        for device in devices {
            try await withTimeout(Self.waitMax, "a device did not come in step") { [store = device.store, written] in
                let settled = store.observe { snapshot in
                    try snapshot.rows("SELECT count(*) FROM messages WHERE state = 'synced'", as: Int.self).first ?? 0
                }
                for try await rows in settled where rows >= written { break }
            }
        }
    }

    private static func message(in device: LiveDevice) -> DemoMessage {
        DemoMessage(
            id: UUID(LoadTarget.newClient()), conversationId: UUID(device.conversation), senderName: "bench",
            sentAt: wallClock(), text: "about as long as people write them in a chat, and then a few words more")
    }
}

extension WriteSteps {
    /// Returns the last step of a write.
    fileprivate func last() async throws -> WriteStep? {
        var last: WriteStep?
        for try await step in self { last = step }
        return last
    }
}
