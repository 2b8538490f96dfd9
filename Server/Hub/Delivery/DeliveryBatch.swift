package import TidemarkModel
package import TidemarkStore
import TidemarkWire

/// A committed batch made ready for delivery: each change encoded once, grouped by scope.
package struct DeliveryBatch: Sendable {
    /// The rows of one scope as they stand in a frame, comma-separated.
    package struct Group: Sendable {
        package let scope: ScopeID
        package let rows: [UInt8]
    }

    package let low: SequenceNumber
    package let head: Head
    /// The wire's cursor for its end.
    package let cursor: String
    package let groups: [Group]
    package let memberships: [MembershipChange]
    package let settlements: [Settlement]
    /// Clients that are registered no more.
    package let removals: [ClientID]
    /// What is remembered of the batches before is to be forgotten.
    package let forgets: Bool
    private let placeOfClient: [ClientID: Int]

    /// Encodes a batch; `cursor` is the sealed form of its head.
    package init(_ batch: CommittedBatch, cursor: String) {
        low = batch.low
        head = batch.head
        self.cursor = cursor
        memberships = batch.memberships
        settlements = batch.settlements
        removals = batch.removals
        forgets = batch.forgets
        var places = [ClientID: Int](minimumCapacity: batch.settlements.count)
        for (place, settlement) in batch.settlements.enumerated() { places[settlement.client.id] = place }
        placeOfClient = places
        groups = Self.groups(batch.records)
    }

    /// What the batch settled of one client, as the client hears of it.
    func settled(of client: ClientID) -> Settled? { placeOfClient[client].map { settlements[$0].wire } }

    /// Rows grouped by scope, in the order in which scopes first occur.
    static func groups(_ records: [StoredRecord]) -> [Group] {
        var places = [ScopeID: Int](minimumCapacity: records.count)
        var scopes: [ScopeID] = []
        var writers: [JSONWriter] = []
        for record in records {
            let place: Int
            if let known = places[record.scope] {
                place = known
                writers[place].byte(UInt8(ascii: ","))
            } else {
                place = writers.count
                places[record.scope] = place
                scopes.append(record.scope)
                writers.append(JSONWriter(capacity: 384))
            }
            RowCoding.write(record, to: &writers[place])
        }
        return zip(scopes, writers).map { Group(scope: $0, rows: $1.bytes) }
    }

    /// Bytes held in memory, for the ring's bound.
    package var byteCount: Int {
        groups.reduce(128) { $0 + $1.rows.count + 64 } + memberships.count * 96 + settlements.count * 160
    }
}

extension RowCoding {
    static func write(_ record: StoredRecord, to writer: inout JSONWriter) {
        write(
            key: record.key, seq: record.seq, born: record.born, isDeleted: record.isDeleted, author: record.author,
            created: record.created, updated: record.updated, body: record.body, to: &writer)
    }
}

extension Settlement {
    /// The form in which the client hears of it.
    var wire: Settled {
        Settled(through: client.settledThrough, outcomes: results)
    }
}
