import Foundation
public import Observation
import TidemarkModel

#if canImport(Combine)
public import Combine
#endif

/// A screen that shows the state of a store while an app is being built, with two buttons: sync now, and clear the
/// cache.
///
///     @State private var screen = DeveloperScreen(store)
///     …
///     .task { await screen.run() }
///
/// The example needs iOS 17 or macOS 14; on older systems the property is a `@StateObject`. `DeveloperView` shows the
/// screen in SwiftUI; the lines fit any list.
@MainActor
public final class DeveloperScreen {
    /// One line: a title and its value.
    public struct Line: Hashable, Sendable, Identifiable {
        /// `Pending`, `Cache`, ….
        public var title: String
        /// `3 writes`, `1.2 MB of 1.4 MB`, ….
        public var value: String
        /// True when a person should look at it.
        public var isAlarming: Bool

        public var id: String { title }
    }

    /// The lines: always the same ones in the same order.
    public var lines: [Line] { seen.lines }
    /// True while the action of a button runs.
    public var isBusy: Bool { seen.isBusy }
    /// The error of the last button or look; `nil` when there was none.
    public var error: (any Error)? { seen.error }

    private struct Shown {
        var lines: [Line] = []
        var isBusy = false
        var error: (any Error)?
    }

    private var shown = Shown()
    private var seen: Shown {
        notices.isRead()
        return shown
    }
    private nonisolated let notices = ViewNotices()
    private let store: SyncStore

    /// Creates a screen that is empty until `run()`.
    public init(_ store: SyncStore) { self.store = store }

    /// Follows the store's status until the calling task ends. Each change counts all rows: use it for a visible
    /// screen.
    public func run() async {
        for await status in store.status { await look(status) }
    }

    /// The action of the first button: `SyncStore.syncNow()`. A second press while the first runs does nothing.
    public func syncNow() async { await press { [store] in _ = try await store.syncNow() } }

    /// The action of the second button: `SyncStore.clearCache()`. Unsent writes stay.
    public func clearCache() async { await press { [store] in try await store.clearCache() } }

    private func press(_ work: @Sendable () async throws -> Void) async {
        guard !shown.isBusy else { return }
        notices.change { shown.isBusy = true }
        var met: (any Error)?
        do { try await work() } catch { met = error }
        notices.change { (shown.isBusy, shown.error) = (false, met) }
        await look(store.currentStatus)
    }

    private func look(_ status: SyncStatus) async {
        do { _ = try await show(status) } catch { notices.change { shown.error = error } }
    }

    /// Updates the lines once, for a screen that polls.
    ///
    /// - Returns: the data of the lines, and more.
    package func look() async throws -> Diagnostics { try await show(store.currentStatus) }

    private func show(_ status: SyncStatus) async throws -> Diagnostics {
        let (statistics, diagnostics) = (try await store.statistics(), try await store.diagnostics())
        let lines = Self.lines(status, statistics, store.metrics, diagnostics.activeObservations ?? [])
        notices.change { shown.lines = lines }
        return diagnostics
    }

    nonisolated static func lines(
        _ status: SyncStatus, _ statistics: StoreStatistics, _ metrics: SyncMetrics,
        _ observations: [Diagnostics.ActiveObservation]
    ) -> [Line] {
        let records = statistics.collections.sorted { ($1.value.all, $0.key) < ($0.value.all, $1.key) }
        let success = metrics.successRate.map { "\(Int($0 * 100)) % of \(metrics.started)" } ?? "not tried yet"
        return [
            Line(title: "Sync", value: activity(status), isAlarming: status.failure.map { !$0.isOffline } ?? false),
            Line(title: "Last sync", value: status.lastSync?.formatted(.iso8601) ?? "never", isAlarming: false),
            Line(title: "Pending", value: "\(status.pending)", isAlarming: false),
            Line(title: "Stalled", value: "\(status.stalled)", isAlarming: status.stalled > 0),
            Line(title: "Rejected", value: "\(status.rejected)", isAlarming: status.rejected > 0),
            Line(
                title: "Files to send", value: "\(status.unsentBlobs), \(status.rejectedBlobs) rejected",
                isAlarming: status.rejectedBlobs > 0),
            Line(
                title: "Cached", value: records.map { "\($0.value.all) \($0.key)" }.joined(separator: ", "),
                isAlarming: false),
            Line(
                title: "Cache size",
                value: "\(statistics.usedBytes) of \(statistics.fileBytes) bytes, \(statistics.evicted) evicted",
                isAlarming: status.isDiskFull),
            Line(title: "Success", value: success, isAlarming: false),
            Line(
                title: "Traffic", value: "\(metrics.bytesSent) bytes sent, \(metrics.bytesReceived) received",
                isAlarming: false),
            Line(title: "Observations", value: "\(observations.reduce(0) { $0 + $1.count })", isAlarming: false),
        ]
    }

    private nonisolated static func activity(_ status: SyncStatus) -> String {
        switch status.activity {
        case .disconnected: "not connected"
        case .syncing(let progress): "syncing, \(Int(progress.fraction * 100)) %"
        case .upToDate: "up to date"
        case .updateRequired(let minimum): "needs app \(minimum)"
        case .error(let reason): "\(reason)"
        case .offline: "offline"
        }
    }
}

@available(iOS 17, macOS 14, *)
extension DeveloperScreen: Observable {}

#if canImport(Combine)
extension DeveloperScreen: ObservableObject {
    public nonisolated var objectWillChange: ObservableObjectPublisher { notices.publisher }
}
#endif
