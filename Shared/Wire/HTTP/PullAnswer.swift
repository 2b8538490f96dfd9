package import TidemarkModel

/// The answer to `POST /v1/pull`: the members of a welcome, and the changes that follow from its cursor.
package struct PullAnswer: Hashable, Sendable {
    package var cursorState: Welcome.CursorState
    /// The cursor at which the first frame begins.
    package var cursor: String
    package var kept: [HeldScope]
    package var purged: [ScopeID]
    package var added: [Changes.GrantChange]
    /// The client's last settled transaction; 0 when the call named no client.
    package var settledThrough: Int64
    /// Whole `changes` messages, to be applied in their order.
    package var frames: [[UInt8]]
    /// True when there is more: the client pulls again at once.
    package var hasMore: Bool
    /// The number of scopes that do not fit, as in a welcome.
    package var leftOut: Int

    package init(
        cursorState: Welcome.CursorState, cursor: String, kept: [HeldScope] = [], purged: [ScopeID] = [],
        added: [Changes.GrantChange] = [], settledThrough: Int64 = 0, frames: [[UInt8]] = [], hasMore: Bool = false,
        leftOut: Int = 0
    ) {
        self.cursorState = cursorState
        self.cursor = cursor
        self.kept = kept
        self.purged = purged
        self.added = added
        self.settledThrough = settledThrough
        self.frames = frames
        self.hasMore = hasMore
        self.leftOut = leftOut
    }

    package func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 256 + frames.reduce(0) { $0 + $1.count } + (kept.count + added.count) * 64)
        writer.string("{\"state\":", cursorState.rawValue)
        writer.string(",\"cur\":", cursor)
        writer.array(",\"keep\":", kept) { $1.write(to: &$0) }
        writer.array(",\"purge\":", purged) { $0.string($1.text) }
        writer.array(",\"new\":", added) { $1.write(to: &$0) }
        writer.integer(",\"lmid\":", settledThrough)
        writer.array(",\"changes\":", frames) { $0.raw($1) }
        writer.literal(hasMore ? ",\"more\":true" : ",\"more\":false")
        if leftOut > 0 { writer.integer(",\"left\":", Int64(leftOut)) }
        return writer.ended()
    }

    /// Reads an answer, each of its frames included.
    package static func decode(_ bytes: [UInt8]) throws(WireError) -> PullAnswer {
        var answer = PullAnswer(cursorState: .none, cursor: "")
        try MessageReader.members(of: bytes, "pull answer") { reader, key in
            switch key {
            case "state":
                guard let state = Welcome.CursorState(rawValue: try reader.string()) else {
                    throw reader.failure("unknown state")
                }
                answer.cursorState = state
            case "cur": answer.cursor = try reader.string()
            case "keep": answer.kept = try MessageReader.heldScopes(&reader)
            case "purge": try reader.array { answer.purged.append(try MessageReader.name(&$0, ScopeID.self)) }
            case "new": try reader.array { answer.added.append(try Changes.grant(&$0)) }
            case "lmid": answer.settledThrough = try MessageReader.count(&reader)
            case "changes": try reader.array { answer.frames.append(try $0.raw()) }
            case "more": answer.hasMore = try reader.boolean()
            case "left": answer.leftOut = Int(clamping: try MessageReader.count(&reader))
            default: try reader.skip()
            }
        }
        guard !answer.cursor.isEmpty else { throw WireError("pull answer: \"cur\" is required") }
        return answer
    }
}
