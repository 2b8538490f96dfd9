import Foundation

/// A folder that is deleted with the last reference to it.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "tidemark-\(UUID())")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    func path(_ name: String) -> String { url.appending(path: name).path }

    deinit {
        // A temporary folder that remains does no harm.
        try? FileManager.default.removeItem(at: url)
    }
}

extension TemporaryFolder {
    func copy(_ from: String, to: String) throws {
        try FileManager.default.copyItem(at: url.appending(path: from), to: url.appending(path: to))
    }
}
