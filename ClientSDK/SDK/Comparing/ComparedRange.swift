import GRDB
import TidemarkModel
import TidemarkWire

/// The records that a copy has of a collection in a scope, without pending writes, to be compared with the server's.
struct ComparedRange {
    /// A record of the copy as the server would list it.
    struct Known {
        var born: SequenceNumber
        var seq: SequenceNumber
        var term: DigestSum
    }

    let records: RecordTable
    let table: CollectionTable
    let scope: ScopeID

    private var db: Database { records.db }

    /// Returns the digest of the records that were created in the range and last changed up to a number.
    func digest(of range: Range<SequenceNumber>, at seq: SequenceNumber) throws -> RecordDigest {
        var digest = RecordDigest()
        try each(in: range, at: seq) { digest.insert(term($0)) }
        return digest
    }

    /// Returns the same records one by one.
    func known(in range: Range<SequenceNumber>, at seq: SequenceNumber) throws -> [LocalID: Known] {
        var known: [LocalID: Known] = [:]
        try each(in: range, at: seq) { known[$0.key.id] = Known(born: $0.born ?? 0, seq: $0.seq, term: term($0)) }
        return known
    }

    private func term(_ record: LocalRecord) -> DigestSum {
        let key = RecordKey(collection: table.collection.storedName, id: record.key.id)
        let body = FieldValue.object(stored(record.fields)).json
        return RecordDigest.term(of: key, at: record.seq, body: Array(body.utf8))
    }

    /// Returns the fields with the server's names.
    private func stored(_ fields: Fields) -> Fields {
        var stored = fields
        for (_, name) in table.renames {
            guard let value = stored[name], let first = table.collection.field(name)?.storedName else { continue }
            stored[name] = nil
            stored[first] = value
        }
        return stored
    }

    private func each(
        in range: Range<SequenceNumber>, at seq: SequenceNumber, _ body: (LocalRecord) throws -> Void
    ) throws {
        let name = table.collection.name
        let rows = """
            SELECT \(table.columnsSQL) FROM \(table.quotedName)
            WHERE scope = ? AND server_id >= ? AND server_id < ? AND seq BETWEEN 1 AND ? AND NOT EXISTS (
                SELECT 1 FROM tidemark_base
                WHERE tidemark_base.collection = ? AND tidemark_base.local_id = \(table.quotedName).local_id
            )
            """
        let cursor = try Row.fetchCursor(
            db.reading(rows), arguments: [scope.text, range.lowerBound, range.upperBound, seq, name])
        while let row = try cursor.next() { try body(table.record(row).record) }
        let bases = """
            SELECT collection, local_id FROM tidemark_base
            WHERE collection = ? AND scope = ? AND server_id >= ? AND server_id < ? AND seq BETWEEN 1 AND ?
                AND existence = 'live'
            """
        for row in try db.all(bases, [name, scope.text, range.lowerBound, range.upperBound, seq]) {
            if let base = try records.base(try row.key(0)) { try body(base) }
        }
    }
}
