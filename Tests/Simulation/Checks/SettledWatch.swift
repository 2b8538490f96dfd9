import GRDB
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// I-31: a record that is shown with a write of this device stays visible when that write is settled as committed. It
/// stays until the server's row arrives, the server deletes the record, or the device frees space.
struct SettledWatch {
    private struct Place: Hashable {
        let key: RecordKey
        let scope: ScopeID
    }
    private struct Shown {
        let place: Place
        /// The number of the grant that holds the record; `nil` in a scope that the device created and the server has
        /// not granted yet.
        let since: SequenceNumber?
    }

    /// The visible records of each transaction that the next frame settles.
    private var shown: [TransactionID: [Shown]] = [:]
    /// Scopes that the frame ends, even if it grants them anew.
    private var ended: Set<ScopeID> = []
    /// Records that wait for the server's row, with the grant that holds each.
    private var waiting: [Place: SequenceNumber] = [:]

    mutating func willApply(_ changes: Changes, on device: Device) {
        shown = [:]
        ended = Set(changes.grants.filter { $0.role == nil }.map(\.scope))
        guard let settled = changes.settled else { return }
        _ = device.look { db in
            let records = RecordTable(db, device.database)
            for entry in try OutboxTable(db: db).entries(through: settled.through) {
                guard [.queued, .sending, .reoffered].contains(entry.state) else { continue }
                shown[entry.id] = try entry.transaction().mutations.compactMap { mutation in
                    guard let row = try records.visible(mutation.key) else { return nil }
                    let since = try ScopeTable(db: db).held(row.scope)?.since
                    return Shown(place: Place(key: mutation.key, scope: row.scope), since: since)
                }
            }
        }
    }

    mutating func applied(_ message: ServerMessage, on device: Device, at position: SequenceNumber) throws {
        if case .changes = message { noteSettled(on: device) }
        guard !waiting.isEmpty else { return }
        for place in (device.look { try vanished($0, device.database) } ?? []).sorted(by: { $0.key < $1.key }) {
            let there = device.world.oracle.state.version(of: place.key, at: position)
            if device.look({ try isLeft(place, device, $0) }) == true { continue }
            try check(there?.isDeleted == true, .settled, "\(place.key) vanished once it was committed")
        }
    }

    /// The device freed space: records that wait and are older than all that it keeps may vanish.
    mutating func evicted(on device: Device) {
        _ = device.look { db in
            for place in waiting.keys where try RecordTable(db, device.database).visible(place.key) == nil {
                if try isLeft(place, device, db) { waiting[place] = nil }
            }
        }
    }

    /// The record is older than what the device keeps or fetches of its collection, and the user has not asked for
    /// more.
    private func isLeft(_ place: Place, _ device: Device, _ db: Database) throws -> Bool {
        // Of an erased scope's record the history says when it was made.
        guard let born = device.world.oracle.state.history[place.key]?.last?.born else { return false }
        let sql = """
            SELECT 1 FROM tidemark_scope_page
            WHERE scope = ? AND collection = ? AND is_complete = 0 AND remaining = 0 AND (floor IS NULL OR floor > ?)
            """
        let values: StatementArguments = [place.scope.text, place.key.collection, born]
        return try Int.fetchOne(db, sql: sql, arguments: values) != nil
    }

    /// The records that are no longer shown though their scope is held as before. They stop waiting, as do the records
    /// whose row has arrived.
    private mutating func vanished(_ db: Database, _ database: LocalDatabase) throws -> [Place] {
        let records = RecordTable(db, database)
        var vanished: [Place] = []
        for (place, since) in waiting {
            if let row = try records.visible(place.key) {
                if row.seq > 0 { waiting[place] = nil }
                continue
            }
            // A pending delete hides the record; if the delete is refused, the record must appear again.
            guard try records.pending(place.key).mutations.isEmpty else { continue }
            waiting[place] = nil
            if try ScopeTable(db: db).held(place.scope)?.since == since { vanished.append(place) }
        }
        return vanished
    }

    /// From now on the visible records of committed transactions wait, in scopes that are still held. Records shown
    /// only by a refused write of the same frame vanish with it.
    private mutating func noteSettled(on device: Device) {
        let settled = shown
        shown = [:]
        guard !settled.isEmpty else { return }
        _ = device.look { db in
            var committed: [Place: SequenceNumber?] = [:]
            var refused: Set<Place> = []
            for (id, shown) in settled {
                if case .committed? = try ReceiptTable(db: db).step(id) {
                    for shown in shown { committed[shown.place] = .some(shown.since) }
                } else {
                    refused.formUnion(shown.map(\.place))
                }
            }
            for (place, before) in committed where !refused.contains(place) {
                let since = try ScopeTable(db: db).held(place.scope)?.since
                // A scope that was lost and granted again within the frame lost all its records.
                let isHeldOn = before == since || (before == nil && !ended.contains(place.scope))
                waiting[place] = isHeldOn ? since : nil
            }
        }
    }
}
