import Foundation
import GRDB
import TidemarkModel

@testable import Tidemark

/// Files of devices that are damaged while users write: the app saves the unsettled writes into a new file, and
/// continues with another client id. No write is lost, whichever tables are.
final class Salvages {
    private unowned let world: World
    private var random: SplitMix
    let planned: Int
    /// Writes that were saved.
    private(set) var saved = 0
    private let root = FileManager.default.temporaryDirectory.appending(path: "salvages-\(UUID())")

    init(_ world: World) {
        self.world = world
        random = SplitMix(seed: world.plan.seed, "salvages")
        // Copies of the file, and writes of an extension, would bring a write a second time.
        let isAlone = world.files.planned == 0 && world.extensions.planned == 0
        planned = random.chance(400) && isAlone ? 1 + random.below(2) : 0
    }

    deinit { try? FileManager.default.removeItem(at: root) }

    func schedule() {
        for _ in 0..<planned { world.after(random.within(1_000...world.plan.chaosTime)) { self.damage() } }
    }

    private func damage() {
        let devices = world.devices.filter { !$0.isReader && !$0.watch.isDamaged }
        guard world.isChaotic, let device = random.pick(devices) else { return }
        do {
            try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
            let path = root.appending(path: "\(random.next()).sqlite").path
            try writeDamaged(device.queue, to: path)
            try salvage(path, of: device)
        } catch let violation as Violation {
            world.broke(violation.invariant, "d\(device.number): \(violation.message)")
        } catch {
            world.broke(.conservation, "the file of d\(device.number) cannot be salvaged: \(error)")
        }
    }

    /// Writes a file in which some tables, or its beginning, cannot be read. Tables whose data exists nowhere else stay
    /// whole.
    private func writeDamaged(_ queue: DatabaseQueue, to path: String) throws {
        let file = try DatabaseQueue(path: path)
        try queue.backup(to: file)
        let sql = """
            SELECT rootpage FROM sqlite_schema
            WHERE rootpage > 1 AND tbl_name NOT IN ('tidemark_outbox', 'tidemark_parked') ORDER BY rootpage
            """
        let (pages, size) = try file.read { db in
            (try Int.fetchAll(db, sql: sql), try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0)
        }
        try file.close()
        var damage = random.some(pages).map { ($0 - 1) * size..<$0 * size }
        if random.chance(300) { damage.append(0..<FirstPage.headBytes) }
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        for range in damage {
            try handle.seek(toOffset: UInt64(range.lowerBound))
            try handle.write(contentsOf: Data(repeating: 0xa5, count: range.count))
        }
        try handle.close()
    }

    private func salvage(_ path: String, of device: Device) throws {
        let copy = try LocalCopy(device.database)
        let parked = Set(try device.database.parked().map(\.transaction.id))
        let readable = try RepairedCopy(of: path)
        let found = Salvage(path: readable.path, account: device.owner).read()
        let pending = Set(copy.outbox.map(\.id))
        try check(
            Set(found.entries.map(\.entry.id)) == pending && found.unreadable == 0, .conservation,
            "\(found.entries.count) of \(pending.count) pending writes are saved")
        try check(
            Set(found.parked.map(\.transaction.id)) == parked, .conservation,
            "\(found.parked.count) of \(parked.count) parked writes are saved")
        let queue = try DatabaseQueue()
        let database = try LocalDatabase(
            queue, account: device.owner, schema: device.schema, newClient: newID(), limits: world.plan.local)
        try database.restore(found, newClient: newID())
        world.log(
            "d\(device.number) has its file damaged, saves \(pending.count) pending and \(parked.count) parked")
        saved += pending.count + parked.count
        let gone = copy.outbox.filter { $0.state == .held || $0.state == .void }.map(\.id)
        var watch = device.watch
        watch.beganAnew(with: pending.union(parked).subtracting(gone))
        try device.restore(queue, watch: watch)
        world.forked(device.number)
    }

    private func newID() -> UniqueID {
        UniqueID.version7(milliseconds: world.now, random: (random.next(), random.next()))
    }
}
