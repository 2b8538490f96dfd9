import Foundation

/// A secret that the server makes itself: one line in a file that only its own user may read.
enum KeptSecret {
    /// 64 hexadecimal digits.
    static func random() -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let digits = String(random.next(), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// Writes a secret that is not there yet. Its name appears when all of it is on disk, and never in the place of another: of two
    /// processes that make one, the second keeps nothing.
    ///
    /// - Returns: whether this one is kept now.
    /// - Throws: when the file cannot be written.
    static func keep(_ secret: String, at path: String) throws -> Bool {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let draft = "\(path).\(ProcessInfo.processInfo.processIdentifier).new"
        // One of a process that had this number and was cut short.
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
        defer { unlink(draft) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try file.write(contentsOf: Data((secret + "\n").utf8))
        try file.synchronize()
        try file.close()
        if link(draft, path) == 0 { return true }
        guard errno == EEXIST else { throw CocoaError(.fileWriteUnknown) }
        return false
    }
}
