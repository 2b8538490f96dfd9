import Foundation
import Tidemark
import TidemarkChat
import TidemarkCommandLine
import TidemarkModel
import TidemarkNIOTransport

/// Measures the filling and the return of a device whose user has many conversations.
struct ScopesRun {
    private static let user = "bench-device"
    /// Fewer than the outcomes that a server keeps for a client that acknowledges none.
    private static let madeAtOnce = 2_000
    private static let fillingMax = Duration.seconds(600)

    var scopes = 2_000

    private let clock = ContinuousClock()

    init(scopes: Int = 2_000) { self.scopes = scopes }

    func run(on target: LoadTarget) async throws -> LimitTable {
        let folder = try TemporaryFolder("tidemark-bench")
        defer { withExtendedLifetime(folder) {} }
        for start in stride(from: 0, to: scopes, by: Self.madeAtOnce) {
            let count = min(Self.madeAtOnce, scopes - start)
            try await Conversations.make(
                (0..<count).map { _ in .init(id: LoadTarget.newClient(), members: [Self.user]) }, at: target)
        }
        var table = LimitTable("scopes", unit: "figure, ms unless it says else")
        let store = try await SyncStore.open(
            account: UserID(Self.user), at: URL(fileURLWithPath: folder.path), schema: try ChatSchema.schema())
        let filled = try await connect(store, target)
        let held = try await store.statistics().collections[DemoConversation.collection]?.all ?? 0
        guard held == scopes else { throw BenchError("\(held) conversations came, not \(scopes)") }
        table.add("filled", "a new device with \(scopes) scopes filled", filled, .below(Self.limit(scopes), ""))
        table.add("filled_each", "  the same, each scope", filled / Double(scopes))
        await store.disconnect()
        let before = store.metrics
        let back = try await connect(store, target)
        let after = store.metrics
        table.add("back", "connected again with nothing changed", back, .below(100, ""))
        table.add(
            "back_kb", "  KiB received", Double(after.bytesReceived - before.bytesReceived) / 1_024, .below(20, ""))
        table.add("back_sent_kb", "  KiB sent", Double(after.bytesSent - before.bytesSent) / 1_024, .below(20, ""))
        try await store.close()
        return table
    }

    /// Returns the milliseconds in which a new device must be filled: 1.5 seconds for up to 2,000 scopes, 8 for 10,000.
    static func limit(_ scopes: Int) -> Double { scopes <= 2_000 ? 1_500 : 0.8 * Double(scopes) }

    /// Returns the milliseconds from the call to connect until the copy is up to date.
    private func connect(_ store: SyncStore, _ target: LoadTarget) async throws -> Double {
        let token = try target.token(for: Self.user)
        let began = clock.now
        try store.connect(to: target.ground.address.url, transport: NIOTransport()) { token }
        try await withTimeout(Self.fillingMax, "the device was not filled") {
            for await status in store.status where status.connection == .live { break }
        }
        return (clock.now - began) / .milliseconds(1)
    }
}
