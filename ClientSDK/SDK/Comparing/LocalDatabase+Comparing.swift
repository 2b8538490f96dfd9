import GRDB
package import TidemarkModel
package import TidemarkWire

extension LocalDatabase {
    /// Returns the next request to compare this copy with the server; pass its answer to ``apply(_:to:noting:)``.
    /// Returns `nil` when there is nothing to compare now. The sender numbers the request.
    ///
    /// - Parameter isAsked: true to begin a comparison now, whatever was compared before; otherwise it begins a day
    ///   after the last one. A new copy has just been filled, and is compared a day later.
    package func nextComparison(isAsked: Bool, now: Milliseconds) throws -> CompareRequest? {
        let isDue = try writer.read { db in
            let isUnderWay = try !ComparisonTable(db: db).isEmpty
            return try isAsked || isUnderWay || Self.isDue(db, limits, now)
        }
        guard isDue else { return nil }
        return try change { db in
            let table = ComparisonTable(db: db)
            if try isAsked || table.isEmpty {
                let isFirst = try Meta.compared.integer(db) == nil
                if isFirst, !isAsked {
                    try Meta.compared.set(now, db)
                } else {
                    try table.begin(now: now, isFilling: table.isFilling)
                }
            }
            while let (range, since) = try table.next() {
                let floor = try table.floor(of: range.collection, in: range.scope)
                guard let floor, max(range.low, floor) < range.high else {
                    // The range was evicted meanwhile. A caller that waits for the end of a comparison gets that of the
                    // next one.
                    let isFilling = try table.isFilling
                    _ = try table.take(range.scope, range.collection, high: range.high)
                    _ = try end(in: range.scope, table, isFilling: isFilling)
                    continue
                }
                return CompareRequest(
                    id: 0, scope: range.scope, since: since, collection: names.stored(range.collection),
                    from: max(range.low, floor), before: range.high == .max ? nil : range.high,
                    lists: range.isListed)
            }
            return nil
        }
    }

    /// True while the comparison replaces filling.
    package var isBehind: Bool { get throws { try writer.read { try ComparisonTable(db: $0).isFilling } } }

    private static func isDue(_ db: Database, _ limits: LocalLimits, _ now: Milliseconds) throws -> Bool {
        guard let last = try Meta.compared.integer(db) else { return true }
        // A clock that was set back must not keep a copy from being compared.
        return now < last || now - last >= limits.comparedEvery
    }

    /// Compares the server's answer with the copy, and requests the differing records again. The answer to a
    /// question of another grant, or in a scope that is being filled again, is dropped, and asked for again.
    ///
    /// - Returns: the number of records that differed by an error.
    @discardableResult
    package func apply(
        _ answer: CompareAnswer, to request: CompareRequest, noting note: (SyncLogEvent) -> Void = { _ in }
    ) throws -> Int {
        let (events, records): ([SyncLogEvent], Int) = try change { db in
            let (table, scopes) = (ComparisonTable(db: db), ScopeTable(db: db))
            let isFilling = try table.isFilling
            guard let held = try scopes.held(answer.scope), held.since == answer.since,
                try !scopes.isFetching(answer.scope),
                let range = try table.take(answer.scope, names.local(answer.collection), high: request.before ?? .max)
            else { return ([], 0) }
            var events: [SyncLogEvent] = []
            var wrong = 0
            if let found = try compare(answer, to: request, range, RecordTable(db, self)), !isFilling {
                wrong = found.records
                if wrong > 0 { events.append(.diverged(found)) }
                try Meta.differences.set((Meta.differences.integer(db) ?? 0) + Int64(wrong), db)
            }
            if let event = try end(in: answer.scope, table, isFilling: isFilling) { events.append(event) }
            return (events, wrong)
        }
        for event in events { note(event) }
        return records
    }

    /// - Parameter range: the range of the answer, which is removed from those to compare.
    /// - Returns: the differences in a list of records; `nil` if the answer has parts.
    private func compare(
        _ answer: CompareAnswer, to request: CompareRequest, _ range: ComparisonTable.Range, _ records: RecordTable
    ) throws -> CopyDifference? {
        let (db, table) = (records.db, ComparisonTable(db: records.db))
        let (scope, collection) = (range.scope, range.collection)
        guard let columns = tables[collection], let floor = try table.floor(of: collection, in: scope) else {
            return nil
        }
        if let next = answer.next {
            try table.add(
                .init(scope: scope, collection: collection, low: range.low, high: next, isListed: range.isListed))
        }
        let here = ComparedRange(records: records, table: columns, scope: scope)
        if let marks = answer.marks, let part = answer.parts.first {
            let found = try differences(marks, at: part.at, from: max(part.low, floor), request, here)
            try records.fetchAnew(found.ids, of: collection, in: scope)
            return found.note
        }
        var high = range.high
        for part in answer.parts {
            if try here.digest(of: part.low..<high, at: part.at) != part.digest {
                try table.add(.init(scope: scope, collection: collection, low: part.low, high: high, isListed: true))
            }
            high = part.low
        }
        // A server may send any numbers: their sum stays within this bound.
        let count = try answer.parts.reduce(Meta.comparedRecords.integer(db) ?? 0) {
            min($0 + $1.digest.count, Self.comparedRecordsMax)
        }
        try Meta.comparedRecords.set(count, db)
        return nil
    }

    private static let comparedRecordsMax: Int64 = 1 << 53

    /// Ends the comparison of a scope, or all of it, if nothing of it is left.
    ///
    /// - Parameter isFilling: true when it replaced filling.
    /// - Returns: the event to report once nothing is left to compare.
    private func end(in scope: ScopeID, _ table: ComparisonTable, isFilling: Bool) throws -> SyncLogEvent? {
        let db = table.db
        if isFilling {
            let scopes = ScopeTable(db: db)
            if try scopes.endIfFilled(scope) { try RecordTable(db, self).sweep(scope) }
            try scopes.noteChange()
        }
        guard try table.isEmpty else { return nil }
        try table.endFilling()
        return .compared(records: Int(clamping: try Meta.comparedRecords.integer(db) ?? 0))
    }

    /// Drops a question that the server refuses: it is not asked again in this comparison. If the comparison replaces
    /// filling, the collection is filled by pages.
    package func drop(_ request: CompareRequest) throws {
        try change { db in
            let (table, collection) = (ComparisonTable(db: db), names.local(request.collection))
            let isFilling = try table.isFilling
            _ = try table.take(request.scope, collection, high: request.before ?? .max)
            guard isFilling else { return }
            try ScopeFilling(schema: schema, db: db, cache: limits.cache).restart(collection, in: request.scope)
            _ = try end(in: request.scope, table, isFilling: true)
        }
    }

    /// Returns the records that differ from the server's or may differ, and the count of differences.
    private func differences(
        _ marks: [CompareAnswer.Mark], at seq: SequenceNumber, from low: SequenceNumber, _ request: CompareRequest,
        _ here: ComparedRange
    ) throws -> (ids: [LocalID], note: CopyDifference) {
        let (db, name) = (here.records.db, here.table.collection.name)
        var note = CopyDifference(scope: request.scope.text, collection: name)
        var ids: [LocalID] = []
        let high = request.before ?? .max
        guard low < high else { return (ids, note) }
        var known = try here.known(in: low..<high, at: seq)
        for mark in marks where mark.born >= low {
            if let record = known.removeValue(forKey: mark.record) {
                if record.seq == mark.seq, record.born == mark.born, record.term == mark.term { continue }
                if record.seq < mark.seq { note.outdated += 1 } else { note.changed += 1 }
            } else {
                let key = RecordKey(collection: name, id: mark.record)
                let state = try here.records.base(key) ?? here.records.visible(key)
                if let state, state.existence == .live {
                    // It was changed since.
                    if state.seq > seq { continue }
                    // It waits for the server's state, such as a write that was settled while this copy was away.
                    if state.seq == 0 {
                        ids.append(mark.record)
                        continue
                    }
                }
                switch try DeletionLog(db: db, keptMax: limits.deletionsKept).isDeleted(key, after: seq) {
                case true?: continue
                case false?: if state?.existence == .live { note.changed += 1 } else { note.missing += 1 }
                // Too much was deleted since to be sure: the server's state decides.
                case nil: break
                }
            }
            ids.append(mark.record)
        }
        note.extra = known.count
        ids += known.keys.sorted()
        return (ids, note)
    }
}

extension RecordTable {
    /// Gives the records the number 0, which any state from the server replaces, and requests them by their ids.
    func fetchAnew(_ ids: [LocalID], of collection: String, in scope: ScopeID) throws {
        guard !ids.isEmpty, let table = tables[collection] else { return }
        for id in ids {
            let key = RecordKey(collection: collection, id: id)
            if var base = try base(key) {
                base.seq = 0
                try saveBase(base)
            } else {
                try db.run("UPDATE \(table.quotedName) SET seq = 0 WHERE local_id = ?", [id.description])
            }
            try RefetchTable(db: db).add(key, scope: scope)
        }
        try db.run("UPDATE tidemark_scope SET is_complete = 0 WHERE scope = ?", [scope.text])
        try ScopeTable(db: db).noteChange()
    }
}
