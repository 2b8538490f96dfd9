package import TidemarkModel
package import TidemarkStore
import TidemarkWire

/// The `changes` frames of one pull over HTTP, from windows of the order: the same frames that a catching-up session
/// sends.
package struct PullFrames: Sendable {
    package private(set) var frames: [[UInt8]] = []
    /// The position up to which every batch is in the frames, or does not concern the client.
    package private(set) var position: Head
    package private(set) var rows = 0
    package private(set) var bytes = 0
    /// The end of the state that reads beyond the position used: the copy is consistent only from there on.
    private var looked: Head?
    private var base: String
    private let workspace: WorkspaceID
    private let context: SessionContext

    /// - Parameter standing: the standpoint of the client that pulls; the first frame's base is its cursor.
    package init(from standing: Standpoint, in workspace: WorkspaceID, context: SessionContext) {
        position = standing.position
        looked = standing.looked
        base = standing.cursor
        self.workspace = workspace
        self.context = context
    }

    /// Adds the content of a window; false when it does not go further.
    ///
    /// - Throws: kind `unavailable` when the window is of another history than the frames.
    package mutating func add(_ window: Window) throws(StoreError) -> Bool {
        guard window.through.seq > position.seq else { return false }
        guard position.isOfHistory(holding: window.base) else { throw .wentBack }
        position = window.through
        if window.head.seq > looked?.seq ?? 0 { looked = window.head }
        guard !window.records.isEmpty else { return true }
        let cursor = context.seal.cursor(window.through, looked: looked, workspace: workspace.text)
        var splice = ChangesSplice(
            from: base, cursor: cursor, time: window.through.time, isLive: false, isConsistent: false)
        for group in DeliveryBatch.groups(window.records) { splice.group(group.scope, rows: group.rows) }
        append(splice.finish(), cursor)
        rows += window.records.count
        return true
    }

    /// Adds the frame that ends at the snapshot. Returns true when the client's state is then consistent with one of
    /// the server.
    ///
    /// - Throws: kind `unavailable` when the snapshot is of another history than the frames.
    package mutating func finish(_ snapshot: SessionSnapshot) throws(StoreError) -> Bool {
        guard position.seq < snapshot.head.seq || position.nonce == snapshot.head.nonce else { throw .wentBack }
        let cursor = context.seal.cursor(snapshot.head, looked: looked, workspace: workspace.text)
        let isConsistent = looked?.seq ?? 0 <= snapshot.head.seq
        var splice = ChangesSplice(
            from: base, cursor: cursor, time: snapshot.head.time, isLive: false, isConsistent: isConsistent)
        let settled = snapshot.client.map {
            Settled(through: $0.settledThrough, outcomes: snapshot.results)
        }
        // If it is not consistent, a row of the client's own may be beyond the end: the next pull returns it, and the
        // settlement.
        append(splice.finish(settled: isConsistent ? settled : nil), cursor)
        position = snapshot.head
        return isConsistent
    }

    private mutating func append(_ frame: [UInt8], _ cursor: String) {
        frames.append(frame)
        bytes += frame.count
        base = cursor
    }
}
