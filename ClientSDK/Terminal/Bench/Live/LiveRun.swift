import Foundation
import TidemarkModel

/// Measures the cost of a message on a device that has the conversation open, from the server's socket to the screen.
struct LiveRun {
    /// The time after the last message for resulting writes and receipts.
    private static let settling = Duration.seconds(1)
    /// The pause before the idle device is measured.
    private static let resting = Duration.seconds(3)
    /// The least number of messages, at low rates.
    private static let countMin = 12

    var rates = [1, 50, 1_000]
    var seconds = 5
    var burst = 20_000
    var idle = 20
    var textBytes = 100
    var hasChat = true
    /// False for a device whose tasks use no executor.
    var prefersExecutors = true

    private let clock = ContinuousClock()

    func run(on target: LoadTarget) async throws -> LimitTable {
        let folder = try TemporaryFolder("tidemark-bench")
        defer { withExtendedLifetime(folder) {} }
        let conversation = LoadTarget.newClient()
        try await Conversations.make(
            [.init(id: conversation, members: [LiveDevice.user, Self.writer])], at: target)
        var table = LimitTable("live", unit: "figure, each message")
        try await store(folder, conversation, target, &table)
        if hasChat { try await chat(folder, conversation, target, &table) }
        return table
    }

    private static let writer = "bench-writer"

    private func store(
        _ folder: TemporaryFolder, _ conversation: LocalID, _ target: LoadTarget, _ table: inout LimitTable
    ) async throws {
        let device = try await LiveDevice.open(
            named: "device", in: folder, conversation, at: target, prefersExecutors: prefersExecutors)
        try await device.ready()
        let raw = try RawRows(folder: folder, like: device.path, conversation, textBytes: textBytes)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await device.observe() }
            for rate in rates {
                let count = max(Self.countMin, rate * seconds)
                let first = device.sightings.number
                let cost = try await deliver(count, rate: rate, to: device, target)
                let rows = try await raw.run(count: count, rate: rate, first: first)
                add(cost, rows, rate, device.sightings.ages, &table)
            }
            if burst > 0 { try await most(device, target, &table) }
            if idle > 0 { try await silence(&table) }
            group.cancelAll()
        }
        try await device.close()
    }

    /// Measures the same with everything that a messenger does, for example receipts, which are the device's own
    /// writes.
    private func chat(
        _ folder: TemporaryFolder, _ conversation: LocalID, _ target: LoadTarget, _ table: inout LimitTable
    ) async throws {
        guard let rate = rates.filter({ $0 > 1 }).min() else { return }
        let device = try await LiveDevice.open(
            named: "chat", in: folder, conversation, at: target, prefersExecutors: prefersExecutors)
        try await device.ready()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await device.chat() }
            try await clock.sleep(for: Self.resting)
            let cost = try await deliver(rate * seconds, rate: rate, to: device, target)
            table.add("chat_cpu", "messenger with receipts at \(rate)/s: processor, ms", cost.processor)
            table.add("chat_switches", "  changes of threads", cost.switches)
            if let written = cost.written { table.add("chat_kb", "  written, KB", written / 1_000) }
            let shown = device.sightings.ages.percentiles([0.5, 0.99])
            table.add("chat_visible", "  written elsewhere, then shown, ms", shown[0])
            group.cancelAll()
        }
        try await device.close()
    }

    /// Lets the writer send a number of messages; returns the cost of each until it was shown and all resulting work
    /// was done.
    private func deliver(
        _ count: Int, rate: Int?, to device: LiveDevice, _ target: LoadTarget
    ) async throws -> ProcessCost {
        let load = LiveLoad(
            server: target.ground.address.url, conversation: device.conversation, count: count, rate: rate,
            textBytes: textBytes)
        let writer = try await load.start(token: target.token(for: Self.writer))
        let before = ProcessCost()
        device.sightings.begin()
        let limit = Duration.seconds(Int64(rate.map { count / $0 } ?? 0) + 90)
        try await withTimeout(limit, "the messages were not shown") { [sightings = device.sightings] in
            await sightings.wait(for: try await writer.finish())
        }
        try await clock.sleep(for: Self.settling)
        return ProcessCost().since(before, each: Double(count))
    }

    /// Measures the highest rate that the server delivers.
    private func most(_ device: LiveDevice, _ target: LoadTarget, _ table: inout LimitTable) async throws {
        let cost = try await deliver(burst, rate: nil, to: device, target)
        let span = device.sightings.span / .seconds(1)
        table.add("most", "most messages a second", Double(burst) / span, .atLeast(2_000, ""))
        table.add("most_cpu", "  processor, ms", cost.processor)
        if let written = cost.written { table.add("most_kb", "  written, KB", written / 1_000) }
    }

    /// Measures a device to which nothing happens.
    private func silence(_ table: inout LimitTable) async throws {
        try await clock.sleep(for: Self.resting)
        let before = ProcessCost()
        try await clock.sleep(for: .seconds(idle))
        let cost = ProcessCost().since(before, each: Double(idle))
        // On Linux, libdispatch wakes a thread of its own once a second.
        table.add("idle_switches", "idle: changes of threads a second", cost.switches, .below(5, ""))
        table.add("idle_cpu", "  processor, ms a second", cost.processor)
        if let written = cost.written {
            table.add("idle_bytes", "  written, bytes a second", written, .below(1, ""))
        }
    }

    private func add(
        _ cost: ProcessCost, _ raw: (cost: ProcessCost, ages: LatencyLog), _ rate: Int, _ ages: LatencyLog,
        _ table: inout LimitTable
    ) {
        let isSlow = rate <= 100
        let (shown, read) = (ages.percentiles([0.5, 0.99]), raw.ages.percentiles([0.5, 0.99]))
        let key = "at_\(rate)"
        // Processors and file systems differ: the standard is SQLite's cost for the same rows.
        let limits: [LimitTable.Limit] = isSlow ? [.timesRaw(3)] : []
        table.add("\(key)_cpu", "\(rate)/s: processor, ms", cost.processor, raw: raw.cost.processor, limits: limits)
        table.add("\(key)_switches", "  changes of threads", cost.switches, raw: raw.cost.switches)
        if let written = cost.written {
            let rows = raw.cost.written.map { $0 / 1_000 }
            table.add("\(key)_kb", "  written, KB", written / 1_000, raw: rows, limits: limits)
        }
        table.add("\(key)_visible", "  written elsewhere, then shown, ms", shown[0], raw: read[0])
        table.add("\(key)_visible_p99", "    the same, p99", shown[1], raw: read[1])
    }
}
