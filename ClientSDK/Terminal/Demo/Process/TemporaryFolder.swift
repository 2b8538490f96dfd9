import Foundation

/// A folder of one run; it is deleted with the last reference to it.
final class TemporaryFolder: Sendable {
    let path: String

    init(_ name: String) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(name)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path
    }

    deinit {
        // Anything that cannot be deleted stays in the system's folder for temporary files.
        try? FileManager.default.removeItem(atPath: path)
    }
}
