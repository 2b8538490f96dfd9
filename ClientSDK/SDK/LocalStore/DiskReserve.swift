import Foundation
import GRDB

/// Room on the disk that is given up when the disk is full.
///
/// A full log can only be emptied into the file, and for that the file may have to grow. Without any room neither could
/// move again, although most of the log is long out of date: so a little is held by a file that can go. It is an aid: where
/// it cannot be had, there is none.
struct DiskReserve {
    private let path: String
    private let bytes: Int

    /// - Parameter database: the file beside which it is.
    init(beside database: String, bytes: Int) {
        path = "\(database).reserve"
        self.bytes = bytes
    }

    /// Takes the room, where there is room.
    func take() {
        guard bytes > 0, held < bytes else { return }
        do {
            // Zeros that are written have blocks of their own; a length that is set may have none.
            try Data(count: bytes).write(to: URL(fileURLWithPath: path))
        } catch {
            release()
        }
    }

    /// Gives it to whoever writes next.
    func release() {
        // One that cannot be removed gives no room, which the next write tells.
        if held > 0 { try? FileManager.default.removeItem(atPath: path) }
    }

    /// Does it again without the room where the disk is full: what is here can be read all the same.
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
