import GRDB
import TidemarkModel
import TidemarkStore
import TidemarkWire

@testable import Tidemark

/// Checks how a device treats writes that the server lost. The ones it offers again stay visible. The ones that wait
/// for another user's record are not sent before the server has it. Records that others wrote and the server lost are
/// kept.
struct OfferedWatch {
    /// The visible records of each transaction in the journal, before a welcome that takes some of them back.
    private var shown: [TransactionID: Set<RecordKey>] = [:]
    /// The transactions that wait for another user's record.
    private var waiting: Set<TransactionID> = []
    /// The lost rows, except those that the server had before and that only this device has changed since.
    private var lost: [LocalRecord] = []

    mutating func willApply(_ message: ServerMessage, on device: Device) {
        (shown, waiting, lost) = ([:], [], [])
        let copy = if case .welcome = message { try? LocalCopy(device.database) } else { LocalCopy?.none }
        _ = device.look { db in
            let ids = try db.all("SELECT id FROM tidemark_parked WHERE awaits IS NOT NULL").map { try $0.id(0) }
            waiting = Set(ids)
            guard case .welcome(let welcome) = message else { return }
            if let first = welcome.lost, try welcome.tellsOfLoss(db) {
                let records = copy?.visible.values.map(\.record) ?? []
                let own = Set(
                    try db.all("SELECT seq FROM tidemark_outbox WHERE seq >= ?", [first]).map { try $0.integer(0) })
                lost = records.filter { record in
                    let isOthers = record.born ?? 0 >= first || !own.contains(record.seq)
                    return record.seq >= first && isOthers && !welcome.purged.contains(record.scope)
                }
            }
            let records = RecordTable(db, device.database)
            for entry in try Journal(db: db).entries(above: 0) where entry.state == .settled {
                let keys = try entry.transaction().mutations.map(\.key)
                shown[entry.id] = Set(try keys.filter { try records.visible($0) != nil })
            }
        }
    }

    func applied(_ message: ServerMessage, on device: Device) throws {
        guard !shown.isEmpty || !waiting.isEmpty || !lost.isEmpty else { return }
        try device.database.writer.unsafeRead { db in
            for record in lost { try checkKept(record, device, db) }
            for entry in try OutboxTable(db: db).entries(after: 0, limit: .max) {
                if let keys = shown[entry.id], entry.state == .reoffered { try checkShown(entry, keys, device, db) }
                guard waiting.contains(entry.id), entry.state == .queued else { continue }
                try checkCome(try entry.transaction(), device)
            }
        }
    }

    /// A lost record that another device created was visible, so it is kept for the app.
    private func checkKept(_ record: LocalRecord, _ device: Device, _ db: Database) throws {
        // The device's own creation may be parked by the same welcome, with all its contents.
        let parked = "SELECT EXISTS (SELECT 1 FROM tidemark_parked WHERE instr(body, ?) > 0)"
        guard device.database.limits.rescueBytesMax == LocalLimits().rescueBytesMax,
            try Bool.fetchOne(db, sql: parked, arguments: [record.key.id.description]) != true,
            try RecordTable(db, device.database).base(record.key)?.existence != .absent
        else { return }
        let sql = "SELECT EXISTS (SELECT 1 FROM tidemark_rescue WHERE collection = ? AND local_id = ? AND number = ?)"
        let values: StatementArguments = [record.key.collection, record.key.id.description, record.seq]
        try check(
            try Bool.fetchOne(db, sql: sql, arguments: values) == true, .conservation,
            "\(record.key) at \(record.seq) was lost, and is not kept")
    }

    /// A record that this device created, or that the server still has, does not vanish with the welcome.
    private func checkShown(_ entry: OutboxEntry, _ keys: Set<RecordKey>, _ device: Device, _ db: Database) throws {
        let records = RecordTable(db, device.database)
        for mutation in try entry.transaction().mutations where keys.contains(mutation.key) {
            guard case .create = mutation.action, try records.visible(mutation.key) == nil else { continue }
            let isDeleted = try records.pending(mutation.key).mutations.contains { $0.action == .delete }
            let there = device.world.oracle.state.history[mutation.key]?.contains { $0.isDeleted } ?? false
            try check(isDeleted || there, .settled, "\(mutation.key) vanishes while \(entry.id) is offered again")
        }
    }

    /// Each record that a resent transaction changes exists.
    private func checkCome(_ transaction: Transaction, _ device: Device) throws(Violation) {
        var created: Set<RecordKey> = []
        for mutation in transaction.mutations {
            switch mutation.action {
            case .create: created.insert(mutation.key)
            case .undelete: break
            case .update, .delete:
                let versions = device.world.oracle.state.history[mutation.key] ?? []
                try check(
                    created.contains(mutation.key) || versions.contains { !$0.isDeleted }, .reoffering,
                    "\(transaction.id) is sent again, and nobody has brought back \(mutation.key)")
            }
        }
    }
}
