import Logging
import NIOCore
import ServiceLifecycle
import TidemarkHub
import TidemarkModel
import TidemarkSequencer
import TidemarkStore

/// Runs as long as any loop may have a hub, then takes the hubs from the loops.
struct LoopService: Service {
    let inboxes: [HubInbox]

    func run() async throws {
        defer {
            for inbox in inboxes {
                inbox.eventLoop.execute {
                    inbox.executor.value?.stop()
                    inbox.executor.value = nil
                }
            }
        }
        try await gracefulShutdown()
    }
}

/// The first service that a graceful shutdown ends: it runs behind the HTTP server, which continues to answer.
struct DrainService: Service {
    let node: Node

    func run() async throws {
        try await gracefulShutdown()
        node.beginDraining()
    }
}

/// Looks for other nodes' commits, by hints and by polling, and keeps the store aware that this node wants them.
struct TailService: Service {
    let node: Node

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await repeating(every: node.limits.pollEvery) { await poll() } }
                group.addTask { await repeating(every: node.limits.pollEvery) { await node.commits.probeStore() } }
                group.addTask {
                    await repeating(every: node.limits.renewEvery) {
                        await rest()
                        await renew()
                    }
                }
                group.addTask { await repeating(every: node.limits.renewEvery) { await node.writeSightings() } }
                group.addTask { await repeating(every: node.durability.period) { await tellDurable() } }
                guard node.parts.isStoreShared else { return }
                group.addTask { await repeating(every: node.limits.schemaEvery) { await node.followSchema() } }
                group.addTask { await repeating(every: node.limits.schemaEvery) { await node.followRevocations() } }
                group.addTask {
                    for await hint in node.parts.hints.hints() { await follow(hint) }
                }
                group.addTask {
                    for await word in node.parts.relay.words() { node.heard(word) }
                }
            }
        }
        guard node.parts.isStoreShared else { return }
        for feed in node.feeds.all {
            // Without this call the registration lapses by itself a minute later.
            try? await node.store.unfollow(feed.workspace, node: node.parts.id)
        }
    }

    private func repeating(every period: Duration, _ body: () async -> Void) async {
        while true {
            do {
                try await node.parts.environment.clock.sleep(for: period)
            } catch {
                return
            }
            await body()
        }
    }

    private func poll() async {
        let feeds = node.feeds.all
        for feed in feeds where node.parts.isStoreShared || feed.hasGap { await read(feed) }
        node.tailConfirmed(at: feeds.compactMap(\.confirmed).min() ?? node.now())
    }

    private func follow(_ hint: CommitHint) async {
        switch hint {
        case .unknown: await poll()
        case .grown(let workspace, let seq):
            guard let feed = node.feeds[workspace], let head = feed.head, head.seq < seq else { return }
            await read(feed)
        }
    }

    private func read(_ feed: Feed) async {
        await feed.readOn(from: node.reader)
    }

    /// Stops following workspaces that this node no longer needs.
    private func rest() async {
        let resting = node.feeds.rest(afterIdle: node.limits.restAfter, used: node.connectionCounts.workspaces)
        guard node.parts.isStoreShared else { return }
        for feed in resting {
            // Without this call the registration lapses by itself a minute later.
            try? await node.store.unfollow(feed.workspace, node: node.parts.id)
        }
    }

    private func tellDurable() async {
        let feeds = node.feeds.all
        do throws(StoreError) {
            try await node.durability.look(at: feeds.map(\.workspace))
        } catch {
            node.logger.warning(
                "Could not ask which commits the standbys have: devices keep their writes",
                metadata: ["error": "\(error)"])
            return
        }
        for feed in feeds {
            guard let head = feed.head else { continue }
            do throws(StoreError) {
                let through = try await node.durability.through(head, after: 0, in: feed.workspace, now: node.now())
                feed.tell(durable: through, in: head.epoch)
            } catch {
                node.logger.warning(
                    "Could not find out how far a workspace is durable",
                    metadata: ["workspace": "\(feed.workspace)", "error": "\(error)"])
            }
        }
    }

    private func renew() async {
        guard node.parts.isStoreShared else { return }
        for feed in node.feeds.all where feed.head != nil {
            do throws(StoreError) {
                // The head is not used here: the order is compared with the stored one at each poll.
                _ = try await node.store.follow(feed.workspace, node: node.parts.id, now: node.now())
            } catch {
                node.logger.warning(
                    "Could not renew the interest in a workspace",
                    metadata: ["workspace": "\(feed.workspace)", "error": "\(error)"])
            }
        }
    }
}
