import Logging
package import TidemarkHub
import TidemarkLock
package import TidemarkModel
package import TidemarkStore

/// The schema that a node works with. Any thread.
final class NodeSchema: Sendable {
    private struct State {
        var context: SessionContext
        /// The newest revision that this version cannot read.
        var unread: Int64 = 0
    }

    private let state: Lock<State>

    init(_ context: SessionContext) { state = Lock(State(context: context)) }

    var context: SessionContext { state.withLock { $0.context } }

    /// True when a later revision is in force than this node can read.
    var hasUnread: Bool { state.withLock { $0.unread > $0.context.revision } }

    /// - Returns: the context for sessions from now on; `nil` when the current one is at least as new.
    func adopt(_ inForce: SchemaInForce) -> SessionContext? {
        state.withLock { state in
            guard inForce.revision ?? 0 > state.context.revision else { return nil }
            state.context = state.context.putting(inForce)
            return state.context
        }
    }

    /// - Returns: false when that was known.
    func noteUnread(_ revision: Int64) -> Bool {
        state.withLock { state in
            guard revision > state.unread else { return false }
            state.unread = revision
            return true
        }
    }
}

extension SessionContext {
    /// The revision in force; 0 if schemas are not kept.
    package var revision: Int64 { inForce.revision ?? 0 }
}

/// The schema in force: looked up in the store, sent to every hub.
extension Node {
    /// The store of schemas.
    package var schemas: any SchemaStore { parts.schemas }

    /// True when a later schema is in force than this version can read: another node serves clients better.
    package var hasUnreadSchema: Bool { schema.hasUnread }

    /// Puts a revision in force on this node, unless it has one that is at least as new. Later submissions are judged
    /// by it; sessions learn of it within a tick.
    ///
    /// Nodes do so one after the other, within `schemaEvery` of the first. A transaction that is admitted in between by
    /// the older schema has the outcome of a moment earlier: nothing that is stored depends on which node was first.
    package func adopt(_ revision: SchemaRevision) throws(SchemaError) {
        let inForce = SchemaInForce(
            try Schema(json: revision.document), revision: revision.number, requirement: revision.requirement)
        guard let context = schema.adopt(inForce) else { return }
        for inbox in inboxes.values { inbox.post(.adopted(context)) }
        logger.notice(
            "A schema is in force",
            metadata: [
                "schema": "\(inForce.schema.name)", "version": "\(inForce.schema.version)",
                "revision": "\(revision.number)", "apps": "\(revision.requirement)",
            ])
    }

    /// Looks for a schema that another node has put in force.
    func followSchema() async {
        do throws(StoreError) {
            guard let revision = try await schemas.revision(after: context.revision) else { return }
            follow(revision)
        } catch {
            logger.warning("Could not look for another schema", metadata: ["error": "\(error)"])
        }
    }

    private func follow(_ revision: SchemaRevision) {
        do throws(SchemaError) {
            try adopt(revision)
        } catch {
            guard schema.noteUnread(revision.number) else { return }
            logger.critical(
                "This version cannot read the schema in force: update this server; it continues with the one before",
                metadata: ["revision": "\(revision.number)", "error": "\(error)"])
        }
    }
}
