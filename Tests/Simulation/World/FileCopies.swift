import GRDB
import TidemarkModel

@testable import Tidemark

/// Files of devices that are copied while users write: restored later, as by a backup of the phone, or opened by
/// another installation beside the first (I-23). Neither device nor server is notified.
///
/// Data that was written after the copy and reached the server returns from there. Unsent data is lost with the
/// file, and no check expects it.
final class FileCopies {
    /// A device's file, and the watch's knowledge of it at that time.
    private struct Copy {
        let device: Device
        let file: DatabaseQueue
        let watch: CopyWatch
        /// The number of rewinds of the database at that time.
        let rewinds: Int
    }

    private unowned let world: World
    private var random: SplitMix
    let planned: Int
    private(set) var restored = 0
    private(set) var cloned = 0
    /// The number of client ids that were given up because another file uses them.
    private(set) var forks = 0

    init(_ world: World) {
        self.world = world
        random = SplitMix(seed: world.plan.seed, "files")
        planned = random.chance(200) ? 1 + random.below(2) : 0
    }

    /// True when a file was on two devices: numbers of one client id may have been used twice.
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

    /// Restores a copy, unless the faults have ended: an older file has less of what a user scrolled back to.
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
        // Two devices now write the record that belonged to one.
        copy.device.watch.solo = nil
        // A phone's system knows that the installation is another one; a virtual machine's image looks like the same.
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
