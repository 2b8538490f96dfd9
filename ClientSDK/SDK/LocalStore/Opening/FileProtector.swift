import Foundation
import TidemarkLock

/// Gives the store's files their class of data protection, and keeps the reason of the first failure: the store opens
/// all the same.
///
/// On Apple's platforms a file that is made in a folder gets the folder's class, so folders get it too. Elsewhere the
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

    /// Gives a file or a folder its class by the system's call.
    @Sendable static func assign(_ path: String, _ protection: FileProtectionType) throws {
        try FileManager.default.setAttributes([.protectionKey: protection], ofItemAtPath: path)
    }

    /// The reason why the first file without the class did not get it; `nil` when all have it.
    var failure: String? { first.current }

    /// Protects a folder, for the files that are made in it later.
    func cover(_ folder: URL) { cover(folder.path) }

    /// Protects a database, the files beside it that begin with its name, and the installation's mark.
    func coverFiles(of database: String) {
        let file = URL(fileURLWithPath: database)
        let (folder, name) = (file.deletingLastPathComponent(), file.lastPathComponent)
        for other in names(in: folder)
        where other == name || other.hasPrefix("\(name)-") || other.hasPrefix("\(name).") || other == InstallMark.name {
            cover(folder.appending(path: other).path)
        }
    }

    /// Protects a folder and everything in it.
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

    /// Notes a failure. A file that is deleted by now needs no class: an extension renames the files that it has
    /// written.
    private func note(_ path: String, _ error: any Error) {
        guard FileManager.default.fileExists(atPath: path) else { return }
        first.withLock { $0 = $0 ?? "\(path) has another class of data protection: \(error)" }
    }
}
