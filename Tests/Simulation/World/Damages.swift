import GRDB
import TidemarkModel

@testable import Tidemark

/// Rows of a device are damaged while users write: they vanish, change, get an older number, or appear without the
/// server. A comparison finds them, and they are fetched anew (R-70, I-25).
final class Damages {
    private unowned let world: World
    private var random: SplitMix
    let planned: Int
    /// The numbers of records that were damaged, that comparisons found, and that were reported to the server.
    private(set) var planted = 0
    private(set) var found = 0
    private(set) var told: Int64 = 0
    /// The time after which a comparison is requested again, since a process that is killed forgets it.
    private static let pause: Milliseconds = 8_000

    init(_ world: World) {
        self.world = world
        random = SplitMix(seed: world.plan.seed, "damages")
        planned = random.chance(600) ? 1 + random.below(8) : 0
    }

    func schedule() {
        for _ in 0..<planned { world.after(random.within(2_000...world.plan.chaosTime)) { self.damage() } }
    }

    func told(_ records: Int64) { told += records }

    /// Checks that no more is found than was damaged, and nothing in undamaged copies.
    func found(_ difference: CopyDifference, on device: Device) {
        found += difference.records
        world.require(
            device.watch.isDamaged && found <= planted, .digest,
            "d\(device.number) finds \(difference), of \(planted) records that were damaged")
    }

    private func damage() {
        guard let device = random.pick(world.devices), device.machine != nil, !device.watch.isAstray else { return }
        let count = 1 + random.below(3)
        var damaged = 0
        do {
            try device.database.change { db in
                for _ in 0..<count where try damageOne(of: device, db) { damaged += 1 }
            }
        } catch {
            return world.broke(.conservation, "d\(device.number) cannot be damaged: \(error)")
        }
        guard damaged > 0 else { return }
        world.log("d\(device.number) has \(damaged) records damaged")
        planted += damaged
        device.watch.damaged()
        ask(device, after: random.within(0...1_500))
    }

    private func ask(_ device: Device, after pause: Milliseconds) {
        world.after(pause) {
            guard device.watch.isDamaged else { return }
            device.feed(.compare)
            self.ask(device, after: Self.pause)
        }
    }

    /// - Returns: false when there was nothing to damage.
    private func damageOne(of device: Device, _ db: Database) throws -> Bool {
        let collections = world.schema.collections.filter { $0.scope != .ownRecord }
        guard let name = random.pick(collections)?.name, let table = device.database.tables[name] else { return false }
        // Rows that the engine itself keeps as the server's, except for the record by which this course judges the
        // order of writes.
        let sql = """
            SELECT \(table.columnsSQL) FROM \(table.quotedName) AS r
            WHERE state = 'synced' AND seq > 1 AND local_id <> ?
                AND scope IN (SELECT scope FROM tidemark_scope)
                AND NOT EXISTS (SELECT 1 FROM tidemark_base AS b WHERE b.collection = ? AND b.local_id = r.local_id)
                AND NOT EXISTS (
                    SELECT 1 FROM tidemark_scope_page AS p
                    WHERE p.scope = r.scope AND p.collection = ? AND p.is_complete = 0
                )
            ORDER BY local_id
            """
        let rows = try db.all(sql, [device.watch.solo?.description ?? "", name, name])
        guard let row = random.pick(rows) else { return false }
        let record = try table.record(row).record
        switch random.below(4) {
        case 0: try db.run(table.deleteSQL, [record.key.id.description])
        case 1: try db.run("UPDATE \(table.quotedName) SET seq = seq - 1 WHERE local_id = ?", [row[0]])
        case 2:
            var other = record
            other.fields["damage"] = .integer(Int64(random.below(1_000)))
            try table.put(other, state: .synced, db)
        default:
            let id = UniqueID.version7(milliseconds: world.now, random: (random.next(), random.next()))
            var extra = LocalRecord(
                absent: RecordKey(collection: name, id: id), scope: record.scope, author: record.author,
                created: record.created)
            extra.existence = .live
            (extra.fields, extra.seq, extra.born) = (record.fields, record.seq, record.born)
            try table.put(extra, state: .synced, db)
        }
        return true
    }
}
