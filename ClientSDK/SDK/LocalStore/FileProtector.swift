import Foundation
import TidemarkLock

/// Gives the store's files their class of data protection, and remembers why one did not get it: the store opens all the same.
///
/// A file that is made in a folder has the folder's class on Apple's platforms, so folders get it too. Elsewhere the
/// attribute has no effect.
final class FileProtector: Sendable {
    private let protection: FileProtectionType
    private let assign: @Sendable (String, FileProtectionType) throws -> Void
    private let first = Lock<String?>(nil)

    /// - Parameter assign: gives one file or folder its class.
    init(
        _ protection: FileProtectionType, assign: @escaping @Sendable (String, FileProtectionType) throws -> Void
    ) {
        self.protection = protection
        self.assign = assign
    }

    /// The system's way to give a file or a folder its class.
    @Sendable static func assign(_ path: String, _ protection: FileProtectionType) throws {
        try FileManager.default.setAttributes([.protectionKey: protection], ofItemAtPath: path)
    }

    /// Why the first file without the class has not got it; `nil` when all have it.
    var failure: String? { first.current }

    /// A folder, for the files that are made in it later.
    func cover(_ folder: URL) { cover(folder.path) }

    /// A database, the files beside it that begin with its name, and the installation's mark.
    func coverFiles(of database: String) {
        let file = URL(fileURLWithPath: database)
        let (folder, name) = (file.deletingLastPathComponent(), file.lastPathComponent)
        for other in names(in: folder)
        where other == name || other.hasPrefix("\(name)-") || other.hasPrefix("\(name).") || other == InstallMark.name {
            cover(folder.appending(path: other).path)
        }
    }

    /// A folder and everything in it.
    func coverTree(_ folder: URL) {
        cover(folder)
        for name in names(in: folder) {
            let entry = folder.appending(path: name)
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: entry.path, isDirectory: &isFolder) else { continue }
            if isFolder.boolValue { coverTree(entry) } else { cover(entry.path) }
        }
    }

    private func names(in folder: URL) -> [String] {
        do { return try FileManager.default.contentsOfDirectory(atPath: folder.path) } catch {
            note(folder.path, error)
            return []
        }
    }

    private func cover(_ path: String) {
        do { try assign(path, protection) } catch { note(path, error) }
    }

    /// What is gone by now needs none: an extension renames what it has written.
    private func note(_ path: String, _ error: any Error) {
        guard FileManager.default.fileExists(atPath: path) else { return }
        first.withLock { $0 = $0 ?? "\(path) has another class of data protection: \(error)" }
    }
}
