package import Foundation
import TidemarkModel

/// A small file whose first line has its kind, version and length: a reader can tell that it is complete.
///
///     tidemark spool 1 412 9f86d081884c7d65…
///     {"account":"ann", …
package enum SealedFile {
    /// The purpose of a file.
    package enum Kind: String {
        /// A write of an extension.
        case spool
        /// A value that the app published.
        case published
        /// The signed-in user.
        case account
    }

    /// The reason why a file is not read.
    package enum Fault: Error, Hashable, Sendable {
        /// The file is not one of this SDK, or of another kind.
        case foreign
        /// A newer version of this SDK wrote the file.
        case newer
        /// Bytes are missing or differ from the written ones.
        case cut
        /// The file has more bytes than allowed.
        case tooLarge(Int)
        /// The system does not allow reading now, for example while the phone is locked.
        case unreadable(String)
    }

    /// The version of the format. It is raised when an older SDK cannot read the new form.
    static let version: Int64 = 1
    /// The most bytes of the first line.
    package static let headBytesMax = 160

    /// Returns the file's bytes for a payload.
    package static func seal(_ payload: Data, as kind: Kind) -> Data {
        let sum = BlobDigest(of: payload)
        return Data("tidemark \(kind.rawValue) \(version) \(payload.count) \(sum)\n".utf8) + payload
    }

    /// Returns the payload of a file's bytes.
    package static func open(_ bytes: Data, as kind: Kind) throws(Fault) -> Data {
        guard let end = bytes.prefix(headBytesMax).firstIndex(of: UInt8(ascii: "\n")) else {
            // An incomplete first line may belong to a file that was cut.
            throw bytes.count < headBytesMax && bytes.starts(with: "tidemark ".utf8) ? .cut : .foreign
        }
        let words = String(decoding: bytes[bytes.startIndex..<end], as: UTF8.self).split(separator: " ")
        guard words.count >= 3, words[0] == "tidemark", words[1] == kind.rawValue, let its = Int64(words[2]) else {
            throw .foreign
        }
        guard its <= version else { throw .newer }
        guard its == version, words.count == 5, let count = Int(words[3]) else { throw .foreign }
        let payload = Data(bytes[bytes.index(after: end)...])
        guard payload.count == count, BlobDigest(of: payload).text == words[4] else { throw .cut }
        return payload
    }

    /// Returns the payload of a file; `nil` when there is no file.
    package static func read(_ file: URL, as kind: Kind, bytesMax: Int) throws(Fault) -> Data? {
        var found = stat()
        guard lstat(file.path, &found) == 0 else {
            if errno == ENOENT { return nil }
            throw .unreadable(String(cString: strerror(errno)))
        }
        guard found.st_mode & S_IFMT == S_IFREG else { throw .foreign }
        guard Int(found.st_size) <= bytesMax + headBytesMax else { throw .tooLarge(Int(found.st_size)) }
        let bytes: Data
        do { bytes = try Data(contentsOf: file) } catch {
            // The other side may have deleted it since.
            guard FileManager.default.fileExists(atPath: file.path) else { return nil }
            throw .unreadable("\(error)")
        }
        return try open(bytes, as: kind)
    }
}

extension SealedFile.Fault {
    /// The rest of a sentence that begins with the file.
    package var reason: String {
        switch self {
        case .foreign: "is not a file of this SDK, or is of another kind"
        case .newer: "was written by a newer version of this SDK"
        case .cut: "is damaged: its content is not what was written"
        case .tooLarge(let bytes): "has \(bytes) bytes, more than the limit for such a file"
        case .unreadable(let why): "cannot be read now: \(why)"
        }
    }

    /// Returns the error for a file that a call requires.
    func named(_ file: URL) -> SharingError {
        let code: SharingError.Code =
            switch self {
            case .newer: .newer
            case .unreadable: .unusable
            case .foreign, .cut, .tooLarge: .damaged
            }
        return SharingError(code, "\(file.path) \(reason)")
    }
}
