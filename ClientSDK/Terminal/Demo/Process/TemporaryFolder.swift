import Foundation

/// A folder of one run; deleted with the last reference to it.
final class TemporaryFolder: Sendable {
    let path: String

    init(_ name: String) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(name)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path
    }

    deinit {
        // What cannot be deleted stays in the system's folder for temporary files, which cleans up after everybody.
        try? FileManager.default.removeItem(atPath: path)
    }
}
