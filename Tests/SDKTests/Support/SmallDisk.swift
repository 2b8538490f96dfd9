import Foundation
import GRDBSQLite
import TidemarkLock

/// A disk with space for this many bytes, under the databases of one folder: a write beyond it is refused as on a full
/// disk.
///
/// It is between SQLite and the system, for each connection that is opened while it lives. Only writes are counted.
final class SmallDisk: Sendable {
    private let folder: String
    private let room: Lock<Int>

    /// - Parameter bytes: the size that all files of the folder together may have.
    init(under folder: TemporaryFolder, bytes: Int) {
        self.folder = folder.url.path
        room = Lock(bytes)
        _ = Shim.isInstalled
        Shim.disks.withLock { $0[self.folder] = Shim.Reference(disk: self) }
    }

    deinit { _ = Shim.disks.withLock { $0.removeValue(forKey: folder) } }

    /// Changes the size from now on.
    func resize(to bytes: Int) { room.withLock { $0 = bytes } }

    /// The present size of all files.
    var usedBytes: Int {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder).reduce(0) { sum, name in
                let size = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")[.size] as? Int
                // Neither is SQLite's: one is shared memory, the other a recording.
                return sum + (name.hasSuffix("-shm") || name.hasSuffix(".flight") ? 0 : size ?? 0)
            }
        }
    }

    fileprivate func hasRoom(for more: Int) -> Bool {
        guard more > 0 else { return true }
        // A file that is deleted meanwhile needs no space.
        let used = (try? usedBytes) ?? 0
        return used + more <= room.withLock { $0 }
    }
}

/// The file system that SQLite uses from then on: the previous one, except for the files of small disks.
private enum Shim {
    struct Reference: @unchecked Sendable {  // only read
        weak var disk: SmallDisk?
    }

    static let disks = Lock<[String: Reference]>([:])
    /// A file of a small disk, with the system's methods.
    struct File: @unchecked Sendable {  // the methods are only read
        var disk: Reference
        var before: UnsafePointer<sqlite3_io_methods>
    }

    /// The files by address.
    private static let files = Lock<[Int: File]>([:])
    private nonisolated(unsafe) static var original: UnsafeMutablePointer<sqlite3_vfs>?
    /// Our methods by the address of the system's, which differ for a log and a database. They are never freed.
    private static let methods = Lock<[Int: Int]>([:])

    static let isInstalled: Bool = {
        guard let system = sqlite3_vfs_find(nil) else { return false }
        original = system
        let mine = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        mine.initialize(to: system.pointee)
        mine.pointee.pNext = nil
        mine.pointee.zName = UnsafePointer(strdup("small-disk"))
        mine.pointee.xOpen = { _, name, file, flags, outFlags in
            guard let system = Shim.original else { return SQLITE_MISUSE }
            let code = system.pointee.xOpen(system, name, file, flags, outFlags)
            if code == SQLITE_OK, let name, let file { Shim.opened(String(cString: name), file) }
            return code
        }
        return sqlite3_vfs_register(mine, 1) == SQLITE_OK
    }()

    private static func opened(_ name: String, _ file: UnsafeMutablePointer<sqlite3_file>) {
        let folder = URL(fileURLWithPath: name).deletingLastPathComponent().path
        guard let disk = disks.withLock({ $0[folder] }), let before = file.pointee.pMethods else { return }
        let mine = methods.withLock { methods in
            let known = methods[Int(bitPattern: before)] ?? Int(bitPattern: counting(before))
            methods[Int(bitPattern: before)] = known
            return known
        }
        files.withLock { $0[Int(bitPattern: file)] = File(disk: disk, before: before) }
        file.pointee.pMethods = UnsafePointer(bitPattern: mine)
    }

    private static func counting(
        _ before: UnsafePointer<sqlite3_io_methods>
    ) -> UnsafeMutablePointer<sqlite3_io_methods> {
        let mine = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        mine.initialize(to: before.pointee)
        mine.pointee.xWrite = { file, bytes, count, offset in
            guard let file, let known = Shim.file(file) else { return SQLITE_MISUSE }
            guard Shim.hasRoom(file, known, Int(offset) + Int(count)) else { return SQLITE_FULL }
            return known.before.pointee.xWrite(file, bytes, count, offset)
        }
        mine.pointee.xClose = { file in
            guard let file, let known = Shim.file(file) else { return SQLITE_MISUSE }
            _ = Shim.files.withLock { $0.removeValue(forKey: Int(bitPattern: file)) }
            return known.before.pointee.xClose(file)
        }
        return mine
    }

    private static func file(_ file: UnsafeMutablePointer<sqlite3_file>) -> File? {
        files.withLock { $0[Int(bitPattern: file)] }
    }

    private static func hasRoom(_ file: UnsafeMutablePointer<sqlite3_file>, _ known: File, _ end: Int) -> Bool {
        guard let disk = known.disk.disk else { return true }
        var size: sqlite3_int64 = 0
        guard known.before.pointee.xFileSize(file, &size) == SQLITE_OK else { return true }
        return disk.hasRoom(for: end - Int(size))
    }
}
