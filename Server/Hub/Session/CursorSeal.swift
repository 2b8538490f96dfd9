package import Crypto
import TidemarkModel
package import TidemarkStore

/// The content of a wire cursor.
package struct CursorPlace: Hashable, Sendable {
    /// The client's position. Its time is 0.
    package var head: Head
    /// For a copy in the middle of catching up: the last state of the order that was read for it. Records that changed
    /// again between the two were left out, since they come with their later numbers. So the copy is of a history that
    /// contains both.
    package var looked: Head?

    /// The position that must be in the stored history for the client to continue.
    package var proof: Head { looked ?? head }
}

/// Encodes and decodes the opaque cursor of the wire: version, epoch, number and nonce of a batch end, under a MAC
/// . A cursor in the middle of catching up (version 2) also has the end of the state that was read.
///
/// A cursor grants nothing; the MAC only proves that a server issued it.
package struct CursorSeal: Sendable {
    private let key: SymmetricKey
    private let previousKeys: [SymmetricKey]
    private static let macCount = 8

    /// The versions of the format; each contains `wordCount` words of 8 bytes.
    private enum Version: UInt8 {
        case end = 1
        case middle = 2

        var wordCount: Int { self == .end ? 3 : 5 }
        var payloadCount: Int { 1 + wordCount * 8 }
    }

    /// - Parameter previousKeys: keys with which earlier cursors are still opened, so that a change of keys makes no
    ///   client fetch everything again.
    package init(key: SymmetricKey, previousKeys: [SymmetricKey] = []) {
        self.key = key
        self.previousKeys = previousKeys
    }

    /// Returns the cursor for a position in a workspace.
    ///
    /// - Parameter looked: the end of the order that was read for the client's copy; ignored unless it is after `head`.
    package func cursor(_ head: Head, looked: Head? = nil, workspace: String) -> String {
        let looked = looked.flatMap { $0.seq > head.seq ? $0 : nil }
        let version: Version = looked == nil ? .end : .middle
        var words = [UInt64(bitPattern: (looked ?? head).epoch), UInt64(bitPattern: head.seq), head.nonce]
        if let looked { words += [UInt64(bitPattern: looked.seq), looked.nonce] }
        var bytes: [UInt8] = [version.rawValue]
        bytes.reserveCapacity(version.payloadCount + Self.macCount)
        for word in words {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
            }
        }
        bytes += mac(bytes, workspace, key)
        return Base64URL.encode(bytes)
    }

    /// Returns the whole content of a cursor; `nil` when it was sealed with none of the keys for this workspace.
    package func read(_ cursor: String, workspace: String) -> CursorPlace? {
        guard cursor.utf8.count <= 2 * (Version.middle.payloadCount + Self.macCount),
            let bytes = Base64URL.decode(cursor.utf8), let version = bytes.first.flatMap(Version.init(rawValue:)),
            bytes.count == version.payloadCount + Self.macCount
        else { return nil }
        let payload = Array(bytes[..<version.payloadCount])
        let found = bytes[version.payloadCount...]
        guard
            isMade(payload, workspace, key, found)
                || previousKeys.contains(where: { isMade(payload, workspace, $0, found) })
        else { return nil }
        let words = (0..<version.wordCount).map { word in
            payload[1 + word * 8..<9 + word * 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        let epoch = Int64(bitPattern: words[0])
        var content = CursorPlace(
            head: Head(seq: Int64(bitPattern: words[1]), nonce: words[2], time: 0, epoch: epoch))
        if version == .middle {
            content.looked = Head(seq: Int64(bitPattern: words[3]), nonce: words[4], time: 0, epoch: epoch)
        }
        return content
    }

    /// Checks the MAC in constant time for each key: every byte is compared.
    private func isMade(
        _ payload: [UInt8], _ workspace: String, _ key: SymmetricKey, _ found: ArraySlice<UInt8>
    ) -> Bool {
        zip(mac(payload, workspace, key), found).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private func mac(_ payload: [UInt8], _ workspace: String, _ key: SymmetricKey) -> [UInt8] {
        var hmac = HMAC<SHA256>(key: key)
        hmac.update(data: payload)
        hmac.update(data: Array(workspace.utf8))
        return Array(hmac.finalize().prefix(Self.macCount))
    }
}
