package import TidemarkModel
package import TidemarkStore
import TidemarkWire

/// A committed batch prepared for delivery: each change encoded once, grouped by scope.
package struct DeliveryBatch: Sendable {
    /// The rows of one scope as they appear in a frame, comma-separated.
    package struct Group: Sendable {
        package let scope: ScopeID
        package let rows: [UInt8]
    }

    package let low: SequenceNumber
    package let head: Head
    /// The wire's cursor for the batch's end.
    package let cursor: String
    package let groups: [Group]
    package let memberships: [MembershipChange]
    package let settlements: [Settlement]
    /// Clients that are no longer registered.
    package let removals: [ClientID]
    /// True when everything remembered of the batches before must be forgotten.
    package let forgets: Bool
    private let indexOfClient: [ClientID: Int]

    /// Encodes a batch; `cursor` is the sealed form of its head.
    package init(_ batch: CommittedBatch, cursor: String) {
        low = batch.low
        head = batch.head
        self.cursor = cursor
        memberships = batch.memberships
        settlements = batch.settlements
        removals = batch.removals
        forgets = batch.forgets
        var indices = [ClientID: Int](minimumCapacity: batch.settlements.count)
        for (index, settlement) in batch.settlements.enumerated() { indices[settlement.client.id] = index }
        indexOfClient = indices
        groups = Self.groups(batch.records)
    }

    /// Returns the settlement of one client in this batch, in its wire form.
    func settled(of client: ClientID) -> Settled? { indexOfClient[client].map { settlements[$0].wire } }

    /// Returns rows grouped by scope, in the order in which scopes first occur.
    static func groups(_ records: [StoredRecord]) -> [Group] {
        var indices = [ScopeID: Int](minimumCapacity: records.count)
        var scopes: [ScopeID] = []
        var writers: [JSONWriter] = []
        for record in records {
            let index: Int
            if let known = indices[record.scope] {
                index = known
                writers[index].byte(UInt8(ascii: ","))
            } else {
                index = writers.count
                indices[record.scope] = index
                scopes.append(record.scope)
                writers.append(JSONWriter(capacity: 384))
            }
            RowCoding.write(record, to: &writers[index])
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
    /// The form that is sent to the client.
    var wire: Settled {
        Settled(through: client.settledThrough, outcomes: results)
    }
}
