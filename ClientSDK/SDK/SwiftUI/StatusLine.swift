import Foundation
public import Observation
import TidemarkLock
import TidemarkModel

#if canImport(Combine)
public import Combine
#endif

/// The status line of an app: a text about a store's synchronisation, with a number for a badge.
///
///     @State private var line = StatusLine(store)
///     …
///     HStack { Text(line.text ?? "") }.task { await line.run() }
///
/// The example needs iOS 17 or macOS 14; on older systems the property is a `@StateObject`. `SyncStatusView` shows the
/// line in SwiftUI. The texts are English; an app in another language makes its own from `status`.
@MainActor
public final class StatusLine {
    /// The last status of the store; `nil` before `run()`.
    public var status: SyncStatus? { seen.status }

    private struct Shown {
        var status: SyncStatus?
        var isRested = false
    }

    private var shown = Shown()
    private var seen: Shown {
        notices.isRead()
        return shown
    }
    private nonisolated let notices = ViewNotices()
    private let store: SyncStore
    /// The number of completed rounds.
    private var completions = 0

    /// Creates a line that is empty until `run()`.
    public init(_ store: SyncStore) { self.store = store }

    /// Follows the store's status until the calling task ends.
    public func run() async {
        notices.change { shown.status = nil }
        await withChildTasks { children in
            for await status in store.status {
                guard let completion = show(status) else { continue }
                await children.add { [clock = store.environment.clock] in
                    do { try await clock.sleep(for: .seconds(2)) } catch { return }
                    await self.rest(after: completion)
                }
            }
            children.cancelAll()
        }
    }

    /// The activity to show: that of `SyncStatus`, or `nil` when there is nothing to show. That is before the first
    /// status, and from two seconds after `upToDate` until there is something to do again.
    public var activity: SyncActivity? {
        let seen = seen
        guard let activity = seen.status?.activity else { return nil }
        return activity == .upToDate && seen.isRested ? nil : activity
    }

    /// The text of the line; `nil` when there is nothing to say.
    public var text: String? { status.flatMap { Self.words($0, activity) } }

    /// The number for a badge: writes that are not on the server, including stalled ones.
    public var waiting: Int { status.map { $0.pending + $0.stalled } ?? 0 }

    /// - Returns: the number of the completion that has just begun.
    private func show(_ status: SyncStatus) -> Int? {
        let (wasCompleted, isCompleted) = (shown.status?.activity == .upToDate, status.activity == .upToDate)
        notices.change {
            shown.status = status
            if !isCompleted { shown.isRested = false }
        }
        guard isCompleted, !wasCompleted else { return nil }
        completions += 1
        return completions
    }

    private func rest(after completion: Int) {
        guard completion == completions, shown.status?.activity == .upToDate else { return }
        notices.change { shown.isRested = true }
    }

    nonisolated static func words(_ status: SyncStatus, _ activity: SyncActivity?) -> String? {
        if status.isDiskFull { return "No room on this device" }
        let queued = status.pending == 0 ? nil : "\(status.pending) queued"
        let isHeld = status.isHoldingBlobs && status.unsentBlobs > 0
        let held = isHeld ? "\(status.unsentBlobs) files wait for another network" : nil
        return switch activity {
        case .disconnected, nil: held ?? queued
        case .upToDate: held ?? "Up to date"
        case .syncing(let progress): underWay(status, progress)
        case .offline: joined("Offline", queued)
        case .updateRequired(let minimum): joined("Update the app" + (minimum.isEmpty ? "" : " to \(minimum)"), queued)
        case .error(let reason): joined(trouble(reason, status), queued)
        }
    }

    private nonisolated static func joined(_ words: String, _ more: String?) -> String {
        more.map { "\(words), \($0)" } ?? words
    }

    /// Returns the text for an activity with a server that answers.
    private nonisolated static func underWay(_ status: SyncStatus, _ progress: SyncProgress) -> String {
        if let pause = status.pushPause, status.pending > 0 {
            let until = Date(milliseconds: pause.until).formatted(date: .omitted, time: .standard)
            let why = pause.reason == .rateLimited ? "Too much was sent" : "The server is busy"
            return "\(why): \(status.pending) queued until \(until)"
        }
        if status.isSending { return "Sending \(status.pending)" }
        if status.blobsToSend > 0 { return "Sending \(status.blobsToSend) files" }
        return progress.records > 0 ? "Receiving, \(progress.records) so far" : "Connecting"
    }

    private nonisolated static func trouble(_ reason: SyncFailure, _ status: SyncStatus) -> String {
        switch reason.code {
        case .unauthenticated, .tokenFailed: "Sign in again"
        case .rateLimited: "Too many connections: waiting for the server"
        case .scopesLeftOut: "Not everything is on this device"
        case .writesStalled: "\(status.stalled) got no answer"
        default: "Trouble with the server"
        }
    }
}

@available(iOS 17, macOS 14, *)
extension StatusLine: Observable {}

#if canImport(Combine)
extension StatusLine: ObservableObject {
    public nonisolated var objectWillChange: ObservableObjectPublisher { notices.publisher }
}
#endif
