import Foundation
import TidemarkModel

@testable import Tidemark
@testable import TidemarkExtension

/// Extensions of apps, which write whether the app runs or not: into a folder from which the app takes each write once.
final class Extensions {
    private unowned let world: World
    private var random: SplitMix
    let planned: Int
    /// Writes by device that its app has not adopted yet.
    private var waiting: [Int: Set<TransactionID>] = [:]
    private(set) var adopted = 0
    private let root = FileManager.default.temporaryDirectory.appending(path: "spools-\(UUID())")

    init(_ world: World) {
        self.world = world
        random = SplitMix(seed: world.plan.seed, "extensions")
        // A restored file may be from before a write was adopted.
        planned = random.chance(250) && world.files.planned == 0 ? 2 + random.below(8) : 0
    }

    deinit { try? FileManager.default.removeItem(at: root) }

    func schedule() {
        for _ in 0..<planned { world.after(random.within(500...world.plan.chaosTime)) { self.write() } }
    }

    /// True when no running device has writes to adopt.
    var isDone: Bool { waiting.values.allSatisfy(\.isEmpty) }

    private func folder(of device: Device) -> SpoolFolder {
        SpoolFolder(of: device.owner, in: root.appending(path: "d\(device.number)"))
    }

    private func write() {
        guard let device = random.pick(world.devices.filter { !$0.isReader }), let step = step(on: device) else {
            return
        }
        let id = UniqueID.version7(milliseconds: world.now, random: (random.next(), random.next()))
        let write = SpooledWrite(
            id: id, account: device.owner, schema: world.schema.name, written: device.clock, steps: [step])
        do { try folder(of: device).add(write, SharingLimits()) } catch {
            return world.broke(.conservation, "an extension of d\(device.number) cannot write: \(error)")
        }
        world.log("d\(device.number)'s extension writes \(id)")
        waiting[device.number, default: []].insert(id)
        // Users open the app after a while.
        world.after(random.within(0...4_000)) { self.adopt(on: device) }
    }

    /// A step based on the values that the app has published, which may be outdated when it is adopted.
    private func step(on device: Device) -> SpoolStep? {
        let solos = Set(world.devices.compactMap(\.watch.solo))
        let notes = device.ids(of: "notes").filter { !solos.contains($0) }
        guard let note = random.pick(notes), let shown = device.fields(of: RecordKey(collection: "notes", id: note)),
            random.chance(700)
        else {
            guard let scope = random.pick(device.heldScopes) else { return nil }
            let id = UniqueID.version7(milliseconds: world.now, random: (random.next(), random.next()))
            let fields: Fields = ["conversationId": .string(scope), "body": "spooled", "kind": "plain"]
            return .create(RecordKey(collection: "notes", id: id), fields)
        }
        let key = RecordKey(collection: "notes", id: note)
        switch random.below(4) {
        case 0: return .set(key, field: "high", .integer(Int64(random.below(1_000))))
        case 1: return .delete(key)
        default:
            var from = Fields()
            for name in ["body", "count", "tags"] { from[name] = shown[name] }
            var to = from
            to["body"] = .string("spooled \(random.below(1_000))")
            if case .integer(let count)? = from["count"] { to["count"] = .integer(count + 1) }
            return .change(key, from: from, to: to)
        }
    }

    /// The app adopts the waiting writes; it may be killed before the files are deleted.
    func adopt(on device: Device) {
        guard device.machine != nil, waiting[device.number]?.isEmpty == false else { return }
        let (folder, position) = (folder(of: device), device.position())
        do {
            let done = try device.transact { database in
                let round = try database.adopt(folder, past: [], limits: SharingLimits(), now: device.clock)
                for id in round.adopted + round.parked {
                    world.require(
                        waiting[device.number]?.remove(id) != nil, .exactlyOnce, "d\(device.number) takes \(id) twice")
                    device.watch.wrote(id)
                    // The user sends a write that the device has refused.
                    if let written = try database.written(id) {
                        world.oracle(wrote: written, by: device.owner, after: position)
                    }
                    adopted += 1
                }
                return round.done
            }
            folder.remove(done)
            device.feed(.wrote)
        } catch is Device.Killed {
            device.kill()
        } catch {
            world.log("d\(device.number) cannot take what its extension wrote: \(error)")
        }
    }
}
