import TidemarkHub
import TidemarkModel
import TidemarkStore
import TidemarkWire

/// Checks everything that a node sends on one connection against the oracle.
struct DeliveryWatch {
    private var cursor: String?
    /// The position that the client sent in its hello, and the horizon at that time.
    private var shown: (text: String, place: Head, horizon: SequenceNumber)?
    private var seq: SequenceNumber = 0
    /// Sizes of frames that were sent and not acknowledged.
    private var outstanding: [Int] = []
    private var acked: Int64 = 0
    /// The states in which pages were read, by request.
    private var pageStates: [Int64: SequenceNumber] = [:]
    /// True when messages of this connection may be of an order that the database has lost: they are not judged.
    var isVoid = false

    mutating func received(_ bytes: [UInt8], _ world: World) {
        guard !isVoid else { return }
        if bytes.starts(with: #"{"t":"hello""#.utf8), case .hello(let hello)? = try? ClientMessage.decode(bytes) {
            shown = hello.cursor.flatMap { text in
                world.seal.read(text, workspace: World.workspace.text).map {
                    (text, $0.head, world.database.tables.horizon(of: World.workspace))
                }
            }
        }
        guard bytes.starts(with: #"{"t":"ack""#.utf8), case .ack(let ack)? = try? ClientMessage.decode(bytes) else {
            return
        }
        let isNews = ack.frames > acked || ack.frames == acked && ack.diverged > 0
        world.require(isNews, .contiguity, "acknowledged \(ack.frames) after \(acked)")
        guard ack.frames > acked else { return }
        outstanding.removeFirst(min(outstanding.count, Int(ack.frames - acked)))
        acked = ack.frames
    }

    mutating func pageRead(_ request: Int64, at seq: SequenceNumber) { pageStates[request] = seq }

    mutating func sent(_ frame: Frame, on connection: Connection, _ world: World) {
        guard !isVoid else { return }
        do {
            switch try ServerMessage.decode(frame.bytes) {
            case .welcome(let welcome):
                try judge(welcome, connection, world)
                cursor = welcome.cursor
                seq = world.position(of: welcome.cursor)
            case .changes(let changes): try judge(changes, frame.bytes.count, connection, world)
            case .page(let page): try judge(page, connection, world)
            case .ephemeral(let message): try judge(message, connection, world)
            case .history(let answer): try judge(answer, connection, world)
            case .compared(let answer): try judge(answer, connection, world)
            case .authOK, .error, .goAway, .unknownExtension: break
            }
        } catch let violation as Violation {
            world.broke(violation.invariant, "c\(connection.id) of \(connection.user): \(violation.message)")
        } catch {
            world.broke(.contiguity, "c\(connection.id): an undecodable message: \(error)")
        }
    }

    // MARK: Welcomes

    /// A client never continues from a position that is not in this order, or behind which deletions are forgotten.
    private func judge(_ welcome: Welcome, _ connection: Connection, _ world: World) throws(Violation) {
        if welcome.cursorState == .ok, let (text, place, horizon) = shown {
            try check(welcome.cursor == text, .contiguity, "goes on from \(text), and is told \(welcome.cursor)")
            world.rotations.goesOn(from: text, at: connection.node.number)
            try check(place.seq >= horizon, .horizon, "goes on from \(place.seq), below \(horizon)")
            try check(
                place.isOfHistory(holding: world.oracle.batch(holding: place.seq)), .lineage,
                "goes on from a \(place.seq) of another order")
        }
        guard let rewind = welcome.rewind else { return }
        let end = world.seal.read(rewind.end, workspace: World.workspace.text)?.head
        try check(
            end.map { $0.seq == rewind.to && $0.isOfHistory(holding: world.oracle.batch(holding: $0.seq)) } == true,
            .lineage, "is sent back to a \(rewind.to) of another order")
    }

    // MARK: Frames

    private mutating func judge(
        _ changes: Changes, _ size: Int, _ connection: Connection, _ world: World
    ) throws(Violation) {
        let end = world.position(of: changes.cursor)
        world.log(
            "c\(connection.id) frame \(seq)...\(end)\(changes.isLive ? " live" : "")"
                + "\(changes.isConsistent ? " done" : "") rows \(changes.groups.map(\.changes.count).reduce(0, +))"
                + "\(changes.settled.map { " settled \($0.through)" } ?? "") acl \(changes.grants.count)")
        try check(changes.from == cursor, .contiguity, "a frame continues another cursor")
        try check(end > seq || end == seq && isEmptyStep(changes), .contiguity, "cursor \(end) after \(seq)")
        for group in changes.groups {
            try check(
                isVisible(group.scope, to: connection.user, at: end, world), .noLeak,
                "\(group.scope) in a frame to \(end)")
            for row in group.changes {
                try check(row.seq > seq && row.seq <= end, .contiguity, "\(row.key) at \(row.seq) in \(seq)...\(end)")
                try judge(row, to: connection.user, world)
            }
        }
        let keys = changes.groups.flatMap { $0.changes.map(\.key) }
        try check(Set(keys).count == keys.count, .boundedWork, "a record comes twice in a frame to \(end)")
        if changes.isLive { try judgeWhole(changes, after: seq, to: end, connection.user, world) }
        cursor = changes.cursor
        seq = end
        try judgeBounds(size, world.plan.wire)
    }

    /// Catch-up ends with a frame even when nothing happened; a frame more may announce that the client is live.
    private func isEmptyStep(_ changes: Changes) -> Bool {
        !changes.isLive && changes.groups.isEmpty
    }

    /// A live frame holds all rows of all its batches, in the scopes that the user holds after each batch.
    private func judgeWhole(
        _ changes: Changes, after start: SequenceNumber, to end: SequenceNumber, _ user: UserID, _ world: World
    ) throws(Violation) {
        var expected: Set<Place> = []
        for batch in world.oracle.batches.reversed() {
            if batch.head.seq <= start { break }
            guard batch.low <= end else { continue }
            for record in batch.records where grantNumber(record.scope, user, batch.head.seq, world) != nil {
                expected.insert(Place(key: record.key, seq: record.seq))
            }
        }
        let found = Set(changes.groups.flatMap { $0.changes.map { Place(key: $0.key, seq: $0.seq) } })
        try check(found == expected, .liveAtomicity, "\(found.count) rows to \(end), not \(expected.count)")
    }

    private struct Place: Hashable {
        let key: RecordKey
        let seq: SequenceNumber
    }

    private mutating func judgeBounds(_ size: Int, _ limits: WireLimits) throws(Violation) {
        outstanding.append(size)
        // One read may exceed the window by one frame.
        let isOver = outstanding.count > limits.windowFramesMax + 1
        let bytes = outstanding.dropLast(2).reduce(0, +)
        try check(!isOver, .bounds, "\(outstanding.count) frames are not acknowledged")
        try check(
            outstanding.count <= 3 || bytes <= limits.windowBytesMax + 4_096, .bounds, "\(bytes) bytes unacknowledged")
    }

    // MARK: Pages

    private mutating func judge(
        _ page: PageAnswer, _ connection: Connection, _ world: World
    ) throws(Violation) {
        guard let at = pageStates.removeValue(forKey: page.id) else {
            throw Violation(invariant: .contiguity, message: "a page that nobody read")
        }
        world.log("c\(connection.id) page \(page.scope) \(page.collection) at \(at) rows \(page.changes.count)")
        let grant = grantNumber(page.scope, connection.user, at, world)
        try check(
            grant == page.since, .noLeak,
            "a page of \(page.scope) read at \(at) for the grant of \(page.since), not \(grant ?? -1)")
        for row in page.changes {
            try check(row.seq <= at, .stability, "\(row.key) at \(row.seq) in a page of \(at)")
            try judge(row, to: connection.user, world)
        }
    }

    // MARK: Ephemeral messages

    /// Judges the message at the state that the node has delivered, not at what other nodes have committed since.
    private func judge(_ message: Ephemeral, _ connection: Connection, _ world: World) throws(Violation) {
        let tail = connection.node.hub.tail(of: World.workspace)?.seq ?? 0
        try check(
            isVisible(message.scope, to: connection.user, at: tail, world), .earshot,
            "\(message.kind) of \(message.user?.text ?? "?") in \(message.scope) at \(tail)")
        world.heard += 1
    }

    // MARK: History

    /// History is sent only to users who hold the scope at the state that was read, and it is the fold's.
    private mutating func judge(
        _ answer: HistoryAnswer, _ connection: Connection, _ world: World
    ) throws(Violation) {
        guard let at = pageStates.removeValue(forKey: answer.id) else {
            throw Violation(invariant: .contiguity, message: "a history that nobody read")
        }
        world.log("c\(connection.id) history \(answer.key) at \(at) entries \(answer.entries.count)")
        try check(
            isVisible(answer.scope, to: connection.user, at: at, world), .noLeak,
            "history of \(answer.scope) read at \(at) by one without a grant")
        let lines = Set(world.oracle.state.ledger[answer.key] ?? [])
        for entry in answer.entries {
            try check(
                lines.contains(.init(entry)) && entry.seq <= at, .stability,
                "\(entry.key) at \(entry.seq): another ledger goes out")
        }
    }

    // MARK: Comparisons

    /// A comparison is sent only to users who hold the scope at the state that was read.
    private mutating func judge(
        _ answer: CompareAnswer, _ connection: Connection, _ world: World
    ) throws(Violation) {
        guard let at = pageStates.removeValue(forKey: answer.id) else {
            throw Violation(invariant: .contiguity, message: "a comparison that nobody read")
        }
        world.log(
            "c\(connection.id) compared \(answer.scope) \(answer.collection) at \(at) parts \(answer.parts.count)")
        let grant = grantNumber(answer.scope, connection.user, at, world)
        try check(
            grant == answer.since, .noLeak,
            "\(answer.scope) compared at \(at) for the grant of \(answer.since), not \(grant ?? -1)")
    }

    // MARK: Rows

    /// A row that is sent under a number is the row that was committed under it.
    private func judge(_ row: Change, to user: UserID, _ world: World) throws(Violation) {
        try world.oracle.rights.judge(row, to: user)
        let committed = world.oracle.state.version(of: row.key, at: row.seq)
        try check(committed == row, .stability, "\(row.key) at \(row.seq) goes out as something else")
    }

    private func isVisible(_ scope: ScopeID, to user: UserID, at seq: SequenceNumber, _ world: World) -> Bool {
        grantNumber(scope, user, seq, world) != nil
    }

    private func grantNumber(
        _ scope: ScopeID, _ user: UserID, _ seq: SequenceNumber, _ world: World
    ) -> SequenceNumber? {
        if world.schema.sharedScopes.contains(scope) { return 0 }
        return world.oracle.state.timeline.grant(of: user, in: scope, at: seq)?.since
    }
}
