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

    /// Writes a secret to a new file. The file's name appears once the whole content is on disk, and never replaces
    /// another file: if two processes make a secret, the second keeps nothing.
    ///
    /// - Returns: whether this secret is the one that is kept.
    /// - Throws: when the file cannot be written.
    static func keep(_ secret: String, at path: String) throws -> Bool {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let draft = "\(path).\(ProcessInfo.processInfo.processIdentifier).new"
        // A leftover of a process that had this number and was interrupted.
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
