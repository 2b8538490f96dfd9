package import Foundation
package import TidemarkModel

/// The writes of one user that wait to be adopted, one file each; the names sort by creation.
package struct SpoolFolder: Sendable {
    package let url: URL

    /// Returns the folder of all users' spools.
    static func root(of shared: URL) -> URL { shared.appending(path: "spool") }

    package init(of account: UserID, in shared: URL) {
        // A user's name may be invalid as a folder's name, and may differ from another's by case alone.
        let name = BlobDigest(of: Data(account.text.utf8)).text.prefix(32)
        url = Self.root(of: shared).appending(path: String(name))
    }

    fileprivate init(url: URL) { self.url = url }

    /// The folder for files that cannot be adopted.
    package var aside: URL { url.appending(path: "aside") }

    private static let suffix = ".spool"
    private static let stampDigits = 16

    /// Returns the names of all waiting files, by creation, including files that are not writes, which the app sets
    /// aside.
    package func names() throws -> [String] {
        try contents().filter { !$0.hasPrefix(".") && $0 != aside.lastPathComponent }.sorted()
    }

    /// Returns the names of files that are being written, or whose writer ended before the call returned.
    package func parts() throws -> [String] { try contents().filter { $0.hasPrefix(DurableFile.partPrefix) } }

    /// Returns the names of the files that were set aside.
    package func namesAside() throws -> [String] { try Self.contents(of: aside).sorted() }

    private func contents() throws -> [String] { try Self.contents(of: url) }

    private static func contents(of folder: URL) throws -> [String] {
        do { return try FileManager.default.contentsOfDirectory(atPath: folder.path) } catch {
            // No write was ever made.
            guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
            throw error
        }
    }

    /// Returns the bytes of these files.
    package func bytes(of names: [String]) -> Int {
        names.reduce(0) { sum, name in
            var found = stat()
            return lstat(url.appending(path: name).path, &found) == 0 ? sum + Int(found.st_size) : sum
        }
    }

    /// Returns the time of a file's last change, in milliseconds since 1970; `nil` for a deleted file.
    package func changed(_ name: String) throws -> Milliseconds? {
        let path = url.appending(path: name).path
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let date = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
        return date.map { Milliseconds($0.timeIntervalSince1970 * 1_000) }
    }

    /// Returns the id of the write in a file's name; `nil` for a name of another kind.
    package static func id(in name: String) -> UniqueID? {
        let parts = name.split(separator: "-", maxSplits: 1)
        guard name.hasSuffix(suffix), parts.count == 2, parts[0].count == stampDigits, Int64(parts[0]) != nil else {
            return nil
        }
        return UniqueID(String(parts[1].dropLast(suffix.count)))
    }

    /// Adds a write after all that wait, whatever the clock does. It is durable when this returns.
    func add(_ write: SpooledWrite, _ limits: SharingLimits) throws {
        let payload = write.payload
        try check(write, payload, limits)
        let waiting: [String]
        do { waiting = try names() } catch {
            throw SharingError(.unusable, "\(url.path) cannot be read: \(error)")
        }
        guard waiting.count < limits.maxWrites else {
            throw SharingError(.full, "\(waiting.count) writes already wait, the limit: open the app to send them")
        }
        let bytes = bytes(of: waiting)
        guard bytes + payload.count <= limits.maxBytes else {
            throw SharingError(
                .full,
                "\(bytes) bytes wait, and \(payload.count) more exceed the limit of \(limits.maxBytes): open the app")
        }
        let last = waiting.last { Self.id(in: $0) != nil }.flatMap { Int64($0.prefix(Self.stampDigits)) } ?? 0
        let stamp = String(min(max(write.written, last + 1), 9_999_999_999_999_999))
        let zeros = String(repeating: "0", count: Self.stampDigits - stamp.count)
        try DurableFile.write(
            SealedFile.seal(payload, as: .spool), to: "\(zeros)\(stamp)-\(write.id)\(Self.suffix)", in: url,
            part: write.id.description)
    }

    private func check(_ write: SpooledWrite, _ payload: Data, _ limits: SharingLimits) throws(SharingError) {
        guard write.steps.count <= limits.maxSteps else {
            throw SharingError(.tooLarge, "\(write.steps.count) steps in one write; the limit is \(limits.maxSteps)")
        }
        let head = SpooledWrite.headBytes(of: payload)
        guard head <= limits.maxWriteBytes else {
            throw SharingError(.tooLarge, "\(head) bytes in one write; the limit is \(limits.maxWriteBytes)")
        }
        for case .keep(_, let bytes) in write.steps where bytes.count > limits.maxBlobBytes {
            throw SharingError(.tooLarge, "a file of \(bytes.count) bytes; the limit is \(limits.maxBlobBytes)")
        }
    }

    /// - Returns: the write; `nil` when the file is gone.
    package func read(_ name: String, _ limits: SharingLimits) throws(SealedFile.Fault) -> SpooledWrite? {
        let file = url.appending(path: name)
        guard let payload = try SealedFile.read(file, as: .spool, bytesMax: limits.fileBytesMax) else { return nil }
        guard let write = SpooledWrite(payload: payload) else { throw .foreign }
        return write
    }

    /// Deletes files. One that is already gone needs no deletion; one that stays is known to be adopted.
    package func remove(_ names: [String]) {
        for name in names { unlink(url.appending(path: name).path) }
    }

    /// Makes the content of the folder durable.
    package func confirm() throws { try DurableFile.confirm(url) }

    /// - Returns: the new URL of the file.
    package func setAside(_ name: String) throws -> URL {
        try FileManager.default.createDirectory(
            at: aside, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let place = aside.appending(path: name)
        // It is already gone: another adoption did the same.
        guard rename(url.appending(path: name).path, place.path) == 0 || errno == ENOENT else {
            throw SharingError(.unusable, "\(name) cannot be set aside: \(String(cString: strerror(errno)))")
        }
        return place
    }

    /// Moves back the files that were set aside and can now be read: a newer version of the app may know what an older
    /// one did not.
    package func bringBack(_ limits: SharingLimits) throws {
        for name in try namesAside() where Self.id(in: name) != nil {
            let file = aside.appending(path: name)
            do throws(SealedFile.Fault) {
                _ = try SealedFile.read(file, as: .spool, bytesMax: limits.fileBytesMax)
            } catch {
                continue
            }
            _ = rename(file.path, url.appending(path: name).path)
        }
    }

    /// Deletes the whole spool.
    package func delete() throws {
        guard FileManager.default.fileExists(atPath: url.path) else { return }
        try FileManager.default.removeItem(at: url)
    }
}

extension SharedFolder {
    /// Returns the number of writes that wait for another user to sign in.
    package func writesOfOthers(than account: UserID) throws -> Int {
        let (root, mine) = (SpoolFolder.root(of: url), SpoolFolder(of: account, in: url).url.lastPathComponent)
        guard FileManager.default.fileExists(atPath: root.path) else { return 0 }
        return try FileManager.default.contentsOfDirectory(atPath: root.path).filter { $0 != mine }
            .reduce(0) { count, name in
                let waiting = try SpoolFolder(url: root.appending(path: name)).names()
                return count + waiting.count { SpoolFolder.id(in: $0) != nil }
            }
    }
}
