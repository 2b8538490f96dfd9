import GRDB
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// I-31: a record that was shown with a write of this device stays to be seen when that write is settled as committed,
/// until the server's own row has come, the server has deleted it, or the device has made room.
struct SettledWatch {
    private struct Place: Hashable {
        let key: RecordKey
        let scope: ScopeID
    }
    private struct Shown {
        let place: Place
        /// The grant under which it is; `nil` in a scope that the device has made itself and that nobody has granted yet.
        let since: SequenceNumber?
    }

    /// What is shown with each write that the next frame settles.
    private var shown: [TransactionID: [Shown]] = [:]
    /// Scopes that it ends, whatever it grants anew.
    private var ended: Set<ScopeID> = []
    /// Records that wait for the server's row, with the grant under which they do.
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

    /// The device made room: what waits and is older than all that is kept went by right.
    mutating func evicted(on device: Device) {
        _ = device.look { db in
            for place in waiting.keys where try RecordTable(db, device.database).visible(place.key) == nil {
                if try isLeft(place, device, db) { waiting[place] = nil }
            }
        }
    }

    /// The record is older than what the device keeps or fetches of its collection, and nobody has asked for more.
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

    /// The records that are no longer shown though their scope is held as it was. They wait no more, nor do those whose
    /// row has come.
    private mutating func vanished(_ db: Database, _ database: LocalDatabase) throws -> [Place] {
        let records = RecordTable(db, database)
        var vanished: [Place] = []
        for (place, since) in waiting {
            if let row = try records.visible(place.key) {
                if row.seq > 0 { waiting[place] = nil }
                continue
            }
            // A pending delete hides it; should that be refused, it must come back.
            guard try records.pending(place.key).mutations.isEmpty else { continue }
            waiting[place] = nil
            if try ScopeTable(db: db).held(place.scope)?.since == since { vanished.append(place) }
        }
        return vanished
    }

    /// What the frame settled as committed, in scopes that are still held, waits from now on. What a refused write of the
    /// same frame may have shown goes with it.
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
                // A scope that was lost and granted again within the frame went with all it held.
                let isHeldOn = before == since || (before == nil && !ended.contains(place.scope))
                waiting[place] = isHeldOn ? since : nil
            }
        }
    }
}
