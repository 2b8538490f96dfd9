import Logging
import Synchronization
import TidemarkModel
import TidemarkSequencer
import TidemarkSession
import TidemarkStore

/// The workspaces that this process follows. Any thread.
final class Feeds: Sendable {
    private let inboxes: [LoopInbox]
    private let seal: CursorSeal
    private let feeds = Mutex<[WorkspaceID: Feed]>([:])

    init(inboxes: [LoopInbox], seal: CursorSeal) {
        self.inboxes = inboxes
        self.seal = seal
    }

    /// All of them, in no order.
    var all: [Feed] { feeds.withLock { Array($0.values) } }

    /// `nil` for a workspace that nobody here asked for.
    subscript(workspace: WorkspaceID) -> Feed? { feeds.withLock { $0[workspace] } }

    /// The workspace's feed, made on first use; it is not followed yet.
    func open(_ workspace: WorkspaceID) -> Feed {
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
    func readOn(from store: any Store, beside commits: GroupCommit, limit: Int, logger: Logger) async {
        do throws(StoreError) {
            try await readOn(isCommitting: { commits.isCommitting(in: workspace) }) { seq throws(StoreError) in
                try await store.tail(after: seq, limit: limit, in: workspace)
            }
        } catch {
            logger.warning(
                "Could not read other nodes' commits", metadata: ["workspace": "\(workspace)", "error": "\(error)"])
        }
    }
}
