import Logging
import Synchronization
import TidemarkHub
package import TidemarkModel
import TidemarkSequencer
import TidemarkStore

/// The workspaces that this process follows. Any thread.
package final class Feeds: Sendable {
    private let inboxes: [HubInbox]
    private let seal: CursorSeal
    private let feeds = Mutex<[WorkspaceID: Feed]>([:])

    init(inboxes: [HubInbox], seal: CursorSeal) {
        self.inboxes = inboxes
        self.seal = seal
    }

    /// All of them, in no order.
    var all: [Feed] { feeds.withLock { Array($0.values) } }

    /// `nil` for a workspace that nobody here asked for.
    subscript(workspace: WorkspaceID) -> Feed? { feeds.withLock { $0[workspace] } }

    /// The workspace's feed, made on first use; it is not followed yet.
    package func open(_ workspace: WorkspaceID) -> Feed {
        feeds.withLock { feeds in
            if let feed = feeds[workspace] { return feed }
            let feed = Feed(workspace: workspace, inboxes: inboxes, seal: seal)
            feeds[workspace] = feed
            return feed
        }
    }

    /// Puts to rest what nobody needed for so many calls in a row, and returns it.
    func rest(afterIdle rounds: Int, used: Set<WorkspaceID>) -> [Feed] {
        feeds.withLock { feeds in
            let resting = feeds.values.filter { $0.rests(afterIdle: rounds, isUsed: used.contains($0.workspace)) }
            for feed in resting { feeds[feed.workspace] = nil }
            return resting
        }
    }

    /// Wakes everyone who waits for any of them.
    func end() {
        for feed in all { feed.end() }
    }
}

extension Feed {
    /// Reads on from a store; a failure is left to the next poll.
    func readOn(from reader: TailReader) async {
        let (store, logger) = (reader.store, reader.logger)
        do throws(StoreError) {
            try await readOn(
                now: reader.now, limit: reader.batchesMax,
                isCommitting: { reader.commits.isCommitting(in: workspace) },
                follow: { (lost: Head) async throws(StoreError) in
                    // Where the store is a copy that cannot be written this fails: what lags behind has not gone back.
                    _ = try await reader.epochs.begin(.lost(lost), reason: .head, in: workspace)
                    return try await store.follow(workspace, node: reader.node, now: reader.now())
                },
                rewound: { rewind in
                    logger.critical(
                        "The database went back: the order of a workspace is not the one that was given out",
                        metadata: [
                            "workspace": "\(workspace)", "before": "\(rewind.before.seq)",
                            "after": "\(rewind.after.seq)",
                        ])
                }
            ) { seq throws(StoreError) in
                try await store.tail(after: seq, limit: reader.batchesMax, in: workspace)
            }
        } catch .erasedWorkspace {
            // Whoever is connected comes again, and is told so.
            restart(at: .start)
        } catch {
            logger.warning(
                "Could not read other nodes' commits", metadata: ["workspace": "\(workspace)", "error": "\(error)"])
            // What one workspace holds and cannot be read is not for lack of a store.
            if error.kind != .unavailable { confirm(at: reader.now()) }
        }
    }
}

/// What a feed needs to read on from the store.
struct TailReader: Sendable {
    let store: any Store
    let commits: GroupCommit
    let epochs: Epochs
    let node: UInt64
    let now: @Sendable () -> Milliseconds
    /// Batches in one read.
    let batchesMax: Int
    let logger: Logger
}
