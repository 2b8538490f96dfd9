import Foundation
import TidemarkModel

/// The files of a recovery. The damaged file is moved aside and replaced, and a mark beside them says that this is
/// under way: a process that dies meanwhile loses nothing.
struct Recovery {
    let path: String

    private var mark: String { "\(path).recovering" }
    private var log: String { "\(path)-wal" }
    /// The size in bytes of an empty log.
    private static let emptyLogBytes = 32

    /// Returns the reason of an earlier recovery that did not end; `nil` when there is none.
    func begun() throws -> String? { try read()?.reason }

    /// Returns the reason why an empty or missing file is not new; `nil` for a new file, and for one that is not empty.
    func loss() throws -> String? {
        let bytes = try Self.bytes(of: path)
        guard bytes ?? 0 == 0 else { return nil }
        let state = bytes == nil ? "gone" : "empty"
        if try Self.bytes(of: log) ?? 0 > Self.emptyLogBytes { return "the database file is \(state), its log is not" }
        return FirstPage(beside: path).exists ? "the database file is \(state), and was not before" : nil
    }

    /// Moves the damaged file away, with the files that belong to it, or continues an interrupted recovery.
    ///
    /// - Returns: the present path of the damaged file; it is empty when there was none.
    func setAside(_ reason: String, now: Milliseconds) throws -> String {
        let begun = try read()
        let damaged = begun?.damaged ?? "\(path).corrupt-\(now)"
        if begun == nil {
            let words = "\(URL(fileURLWithPath: damaged).lastPathComponent)\n\(reason)"
            try write(words)
        }
        // The file itself is moved last: if it has been moved, the file at its path is the beginning of the new one.
        if Self.exists(damaged) {
            for end in ["", "-wal", "-shm", ".head"] { try Self.remove(path + end) }
            return damaged
        }
        try Self.remove("\(path)-shm")
        for end in ["-wal", ".head"] where Self.exists(path + end) && !Self.exists(damaged + end) {
            try FileManager.default.moveItem(atPath: path + end, toPath: damaged + end)
        }
        if Self.exists(path) {
            try FileManager.default.moveItem(atPath: path, toPath: damaged)
        } else {
            try Data().write(to: URL(fileURLWithPath: damaged))
        }
        return damaged
    }

    /// Ends the recovery: all readable data is in the new file.
    func end() throws {
        try Self.remove("\(path).suspect")
        try Self.remove(mark)
    }

    private func read() throws -> (damaged: String, reason: String)? {
        guard Self.exists(mark) else { return nil }
        let words = String(decoding: try Data(contentsOf: URL(fileURLWithPath: mark)), as: UTF8.self)
            .split(separator: "\n", maxSplits: 1)
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        guard let name = words.first, name.contains(".corrupt-"), !name.contains("/") else {
            // The file at that path may be the empty beginning of a new one, or still the damaged one.
            let note = URL(fileURLWithPath: mark).lastPathComponent
            throw StoreError(
                .corrupt,
                "a recovery of this database began, and its note \(note) cannot be read: the damaged file may be beside it "
                    + "as .corrupt-*. Delete the note to open the file as it is")
        }
        return (folder.appending(path: String(name)).path, words.count > 1 ? String(words[1]) : "a damaged file")
    }

    /// Writes the mark. It is on the disk before anything is moved: a power cut leaves no mark, or a whole one.
    private func write(_ words: String) throws {
        let next = "\(mark)-new"
        try Data(words.utf8).write(to: URL(fileURLWithPath: next))
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: next))
        try file.synchronize()
        try file.close()
        try FileManager.default.moveItem(atPath: next, toPath: mark)
    }

    private static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    private static func remove(_ path: String) throws {
        if exists(path) { try FileManager.default.removeItem(atPath: path) }
    }

    private static func bytes(of path: String) throws -> Int? {
        guard exists(path) else { return nil }
        return try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
    }
}
