package import TidemarkModel

/// A step of the order as one client sees it. The client applies it as a whole, with `cursor`, in one local
/// transaction.
package struct Changes: Hashable, Sendable {
    /// The records of one scope.
    package struct Group: Hashable, Sendable {
        package var scope: ScopeID
        package var changes: [Change]

        package init(scope: ScopeID, changes: [Change]) {
            self.scope = scope
            self.changes = changes
        }
    }

    /// A scope that the user gained (`role` given) or lost.
    package struct GrantChange: Hashable, Sendable {
        package var scope: ScopeID
        /// The number of the grant; for a loss, the number at which it ended.
        package var since: SequenceNumber
        package var role: Role?

        package init(scope: ScopeID, since: SequenceNumber, role: Role?) {
            self.scope = scope
            self.since = since
            self.role = role
        }
    }

    /// The cursor that the client must have applied before.
    package var from: String
    /// The cursor that the client has afterwards.
    package var cursor: String
    /// Server time of the newest batch in it.
    package var time: Milliseconds
    /// True when the frame holds whole batches as they were committed; false for a part of a catch-up.
    package var isLive: Bool
    /// True when the client's copy is then a state that the server was in.
    package var isConsistent: Bool
    package var groups: [Group]
    package var settled: Settled?
    package var grants: [GrantChange]
    /// The safe number, as in the welcome, if it has grown since.
    package var durable: SequenceNumber?

    package init(
        from: String, cursor: String, time: Milliseconds, isLive: Bool, isConsistent: Bool, groups: [Group] = [],
        settled: Settled? = nil, grants: [GrantChange] = [], durable: SequenceNumber? = nil
    ) {
        self.durable = durable
        self.from = from
        self.cursor = cursor
        self.time = time
        self.isLive = isLive
        self.isConsistent = isConsistent
        self.groups = groups
        self.settled = settled
        self.grants = grants
    }

    static func decode(_ bytes: [UInt8]) throws(WireError) -> Changes {
        var changes = Changes(from: "", cursor: "", time: 0, isLive: false, isConsistent: false)
        try MessageReader.members(of: bytes, "changes") { reader, key in
            switch key {
            case "base": changes.from = try reader.string()
            case "cur": changes.cursor = try reader.string()
            case "ts": changes.time = try MessageReader.time(&reader)
            case "live": changes.isLive = try reader.boolean()
            case "done": changes.isConsistent = try reader.boolean()
            case "g": try reader.array { changes.groups.append(try group(&$0)) }
            case "you": changes.settled = try Settled.read(&reader)
            case "acl": try reader.array { changes.grants.append(try grant(&$0)) }
            case "durable": changes.durable = try MessageReader.count(&reader)
            default: try reader.skip()
            }
        }
        guard !changes.cursor.isEmpty else { throw WireError("changes: \"cur\" is required") }
        return changes
    }

    static func group(_ reader: inout JSONReader) throws -> Group {
        var scope: ScopeID?
        var changes: [Change] = []
        try reader.object { reader, key in
            switch key {
            case "s": scope = try MessageReader.name(&reader, ScopeID.self)
            case "r":
                guard let scope else { throw reader.failure("\"s\" must stand before \"r\"") }
                try reader.array { changes.append(try RowCoding.read(&$0, scope: scope)) }
            default: try reader.skip()
            }
        }
        guard let scope else { throw reader.failure("a group needs \"s\"") }
        return Group(scope: scope, changes: changes)
    }

    static func grant(_ reader: inout JSONReader) throws -> GrantChange {
        var scope: ScopeID?
        var since: SequenceNumber = 0
        var role: Role?
        try MessageReader.tuple(
            &reader,
            [
                { scope = try MessageReader.name(&$0, ScopeID.self) }, { since = try MessageReader.count(&$0) },
                { if try !$0.takeNull() { role = Role(rawValue: try $0.string()) ?? .member } },
            ])
        guard let scope else { throw reader.failure("a grant needs a scope") }
        return GrantChange(scope: scope, since: since, role: role)
    }

    func encode() -> [UInt8] {
        var splice = ChangesSplice(from: from, cursor: cursor, time: time, isLive: isLive, isConsistent: isConsistent)
        for group in groups {
            var rows = JSONWriter()
            var isFirst = true
            for change in group.changes {
                if isFirst { isFirst = false } else { rows.byte(UInt8(ascii: ",")) }
                RowCoding.write(change, to: &rows)
            }
            splice.group(group.scope, rows: rows.bytes)
        }
        return splice.finish(settled: settled, grants: grants, durable: durable)
    }
}

/// Builds a `changes` frame from rows that are bytes already: each change is encoded once, however many clients get it.
package struct ChangesSplice {
    private var writer: JSONWriter
    private var groups = 0

    package init(
        from: String, cursor: String, time: Milliseconds, isLive: Bool, isConsistent: Bool, capacity: Int = 512
    ) {
        writer = JSONWriter(capacity: capacity)
        writer.string("{\"t\":\"changes\",\"base\":", from)
        writer.string(",\"cur\":", cursor)
        writer.integer(",\"ts\":", time)
        if isLive { writer.literal(",\"live\":true") } else { writer.literal(",\"live\":false") }
        if isConsistent { writer.literal(",\"done\":true") } else { writer.literal(",\"done\":false") }
    }

    /// Appends the rows of one scope, comma-separated.
    package mutating func group(_ scope: ScopeID, rows: [UInt8]) {
        if groups == 0 { writer.literal(",\"g\":[") } else { writer.byte(UInt8(ascii: ",")) }
        groups += 1
        writer.string("{\"s\":", scope.text)
        writer.literal(",\"r\":[")
        writer.raw(rows)
        writer.literal("]}")
    }

    /// Closes the frame and returns its bytes. Call it once; `consuming` would enforce that, but copies the bytes.
    package mutating func finish(
        settled: Settled? = nil, grants: [Changes.GrantChange] = [], durable: SequenceNumber? = nil
    ) -> [UInt8] {
        if groups > 0 { writer.byte(UInt8(ascii: "]")) }
        if let settled {
            writer.literal(",\"you\":")
            settled.write(to: &writer)
        }
        if !grants.isEmpty {
            writer.array(",\"acl\":", grants) { $1.write(to: &$0) }
        }
        if let durable { writer.integer(",\"durable\":", durable) }
        return writer.ended()
    }
}

extension Changes.GrantChange {
    func write(to writer: inout JSONWriter) {
        writer.byte(UInt8(ascii: "["))
        writer.string(scope.text)
        writer.byte(UInt8(ascii: ","))
        writer.integer(since)
        writer.byte(UInt8(ascii: ","))
        if let role { writer.string(role.rawValue) } else { writer.literal("null") }
        writer.byte(UInt8(ascii: "]"))
    }
}

/// One record state as it is sent: `[collection, id, seq, born, flags, author, created, updated, body]`.
///
/// Flag 1 marks a tombstone, whose body is `null`. The scope is written once, before the rows of its group.
package enum RowCoding {
    /// Appends one row; `body` is canonical JSON, ignored for a tombstone.
    package static func write(
        key: RecordKey, seq: SequenceNumber, born: SequenceNumber, isDeleted: Bool, author: UserID,
        created: Milliseconds, updated: Milliseconds, body: [UInt8], to writer: inout JSONWriter
    ) {
        writer.byte(UInt8(ascii: "["))
        writer.string(key.collection)
        writer.byte(UInt8(ascii: ","))
        writer.id(key.id)
        writer.byte(UInt8(ascii: ","))
        writer.integer(seq)
        writer.byte(UInt8(ascii: ","))
        writer.integer(born)
        if isDeleted { writer.literal(",1,") } else { writer.literal(",0,") }
        writer.string(author.text)
        writer.byte(UInt8(ascii: ","))
        writer.integer(created)
        writer.byte(UInt8(ascii: ","))
        writer.integer(updated)
        writer.byte(UInt8(ascii: ","))
        if isDeleted { writer.literal("null") } else { writer.raw(body) }
        writer.byte(UInt8(ascii: "]"))
    }

    static func write(_ change: Change, to writer: inout JSONWriter) {
        write(
            key: change.key, seq: change.seq, born: change.born, isDeleted: change.isDeleted, author: change.author,
            created: change.created, updated: change.updated,
            body: change.isDeleted ? [] : change.fields.canonicalBytes, to: &writer)
    }

    static func read(_ reader: inout JSONReader, scope: ScopeID) throws -> Change {
        var change = Change(
            key: RecordKey(collection: "", id: UniqueID(high: 0, low: 0)), scope: scope, seq: 0, born: 0,
            isDeleted: false, author: UserID(""), created: 0, updated: 0, fields: Fields())
        var collection = ""
        var index = 0
        try reader.array { reader in
            switch index {
            case 0: collection = try reader.string()
            case 1: change.key = RecordKey(collection: collection, id: try MessageReader.id(&reader))
            case 2: change.seq = try MessageReader.count(&reader)
            case 3: change.born = try MessageReader.count(&reader)
            case 4: change.isDeleted = try MessageReader.count(&reader) & 1 == 1
            case 5: change.author = UserID(try reader.string())
            case 6: change.created = try MessageReader.time(&reader)
            case 7: change.updated = try MessageReader.time(&reader)
            case 8: if try !reader.takeNull() { change.fields = try reader.fields() }
            default: try reader.skip()
            }
            index += 1
        }
        guard index >= 9 else { throw reader.failure("a row has nine elements") }
        return change
    }
}

/// The client's settled transactions, as of the frame that carries them.
package struct Settled: Hashable, Sendable {
    /// Every transaction up to this number is settled.
    package var through: Int64
    package var outcomes: [TransactionOutcome]

    package init(through: Int64, outcomes: [TransactionOutcome]) {
        self.through = through
        self.outcomes = outcomes
    }

    /// Returns this together with what was settled after it.
    package func followed(by next: Settled?) -> Settled {
        guard let next else { return self }
        return Settled(
            through: max(through, next.through), outcomes: outcomes + next.outcomes.filter { $0.number > through })
    }

    /// Appends the object.
    package func write(to writer: inout JSONWriter) {
        writer.integer("{\"n\":", through)
        writer.array(",\"res\":", outcomes) { $1.write(to: &$0) }
        writer.byte(UInt8(ascii: "}"))
    }

    static func read(_ reader: inout JSONReader) throws -> Settled {
        var settled = Settled(through: 0, outcomes: [])
        try reader.object { reader, key in
            switch key {
            case "n": settled.through = try MessageReader.count(&reader)
            case "res": try reader.array { settled.outcomes.append(try outcome(&$0)) }
            default: try reader.skip()
            }
        }
        return settled
    }

    /// Reads one outcome. A newer server may append elements.
    static func outcome(_ reader: inout JSONReader) throws -> TransactionOutcome {
        var outcome = TransactionOutcome(
            number: 0, transaction: UniqueID(high: 0, low: 0), seq: 0, time: 0, rejection: nil)
        var code: RejectionCode?
        var index = 0
        try reader.array { reader in
            switch index {
            case 0: outcome.number = try MessageReader.count(&reader)
            case 1: outcome.transaction = try MessageReader.id(&reader)
            case 2: outcome.seq = try MessageReader.count(&reader)
            case 3: outcome.time = try MessageReader.time(&reader)
            case 4:
                if try !reader.takeNull() { code = RejectionCode(rawValue: try reader.string()) ?? .internalRejected }
            case 5:
                if try !reader.takeNull() {
                    outcome.rejection = Rejection(code ?? .internalRejected, try reader.string())
                }
            case 6: try reader.array { outcome.contested.append(try ContestedFields.read(&$0)) }
            default: try reader.skip()
            }
            index += 1
        }
        guard index >= 4, index != 5 else { throw reader.failure("an outcome has four, six or seven elements") }
        return outcome
    }
}
