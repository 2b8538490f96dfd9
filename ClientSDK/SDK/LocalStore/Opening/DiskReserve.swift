import Foundation
import GRDB

/// Disk space that is given up when the disk is full.
///
/// A full log can only be emptied into the file, which may have to grow for it. Without any free space neither could
/// move again, although most of the log is obsolete. A file therefore holds some space and is deleted then. It is an
/// aid: if there is no space for it, it is omitted.
struct DiskReserve {
    private let path: String
    private let bytes: Int

    /// - Parameter database: the file beside which it is stored.
    init(beside database: String, bytes: Int) {
        path = "\(database).reserve"
        self.bytes = bytes
    }

    /// Takes the space, if there is some.
    func take() {
        guard bytes > 0, held < bytes else { return }
        do {
            // Written zeros have their own blocks; a length that is only set may have none.
            try Data(count: bytes).write(to: URL(fileURLWithPath: path))
        } catch {
            release()
        }
    }

    /// Frees the space for the next write.
    func release() {
        // A reserve that cannot be removed frees no space; the next write reports it.
        if held > 0 { try? FileManager.default.removeItem(atPath: path) }
    }

    /// Runs the body again without the reserve if the disk is full: the data can be read all the same.
    func givingWay<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as DatabaseError where StoreError(error)?.code == .diskFull {
            release()
            return try body()
        }
    }

    private var held: Int { DiskFile.bytes(of: path) }
}
