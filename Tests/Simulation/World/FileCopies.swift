import GRDB
import TidemarkModel

@testable import Tidemark

/// Files of devices that are copied while people write: put back later, as by a backup of the phone, or opened by another
/// installation beside the first (I-23). Nobody is told.
///
/// What was written on a device after its file was copied, and reached the server, comes back from there. What did not is gone
/// with the file, and no check asks for it.
final class FileCopies {
    /// A device's file, and what was known of it then.
    private struct Copy {
        let device: Device
        let file: DatabaseQueue
        let watch: CopyWatch
        /// How often the database had gone back.
        let rewinds: Int
    }

    private unowned let world: World
    private var random: SplitMix
    let planned: Int
    private(set) var restored = 0
    private(set) var cloned = 0
    /// Client ids that were given up because another file uses them.
    private(set) var forks = 0

    init(_ world: World) {
        self.world = world
        random = SplitMix(seed: world.plan.seed, "files")
        planned = random.chance(200) ? 1 + random.below(2) : 0
    }

    /// A file has been in two places: numbers of one client id may have been used twice.
    var areUsed: Bool { restored + cloned > 0 }

    func schedule() {
        for _ in 0..<planned { world.after(random.within(1_000...world.plan.chaosTime)) { self.copy() } }
    }

    func noteFork() { forks += 1 }

    private func copy() {
        guard let device = random.pick(world.devices.filter { !$0.isReader && !$0.watch.isDamaged }) else { return }
        do {
            let file = try DatabaseQueue()
            try device.queue.backup(to: file)
            let copy = Copy(device: device, file: file, watch: device.watch, rewinds: world.rewinds.count)
            world.log("d\(device.number) has its file copied")
            let isRestored = random.chance(500)
            world.after(random.within(300...12_000)) { if isRestored { self.restore(copy) } else { self.clone(copy) } }
        } catch {
            world.broke(.conservation, "the file of d\(device.number) cannot be copied: \(error)")
        }
    }

    /// Not once the faults are over: an older file has less of what a person scrolled back to.
    private func restore(_ copy: Copy) {
        guard world.isChaotic, !copy.device.watch.isDamaged else { return }
        restored += 1
        world.log("d\(copy.device.number) has an older file put back")
        do {
            try copy.device.restore(copy.file, watch: watch(of: copy))
        } catch {
            world.broke(.conservation, "the file of d\(copy.device.number) cannot be put back: \(error)")
        }
    }

    private func clone(_ copy: Copy) {
        guard world.isChaotic else { return }
        cloned += 1
        world.log("d\(copy.device.number) has a copy of its file opened elsewhere")
        // Two devices write what was the record of one.
        copy.device.watch.solo = nil
        // A phone's system knows that the installation is another one; that of a virtual machine's image is the same.
        let isOtherInstallation = random.chance(500)
        do {
            try world.add(copy.file, of: copy.device, watch: watch(of: copy), adopts: isOtherInstallation)
        } catch {
            world.broke(.conservation, "the file of d\(copy.device.number) cannot be opened elsewhere: \(error)")
        }
    }

    private func watch(of copy: Copy) -> CopyWatch {
        var watch = copy.watch
        watch.movedInTime(wentBack: world.rewinds.count > copy.rewinds)
        return watch
    }
}
