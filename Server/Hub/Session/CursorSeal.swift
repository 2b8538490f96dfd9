package import Crypto
import TidemarkModel
package import TidemarkStore

/// Makes and reads the opaque cursor of the wire: version, epoch, number and nonce of a batch end, under a MAC.
///
/// A cursor grants nothing; the MAC only lets the server believe that it once gave it.
package struct CursorSeal: Sendable {
    private let key: SymmetricKey
    private let previousKeys: [SymmetricKey]
    private static let version: UInt8 = 1
    private static let payloadCount = 25
    private static let macCount = 8
    /// Characters of a cursor.
    private static let textCount = (payloadCount + macCount) * 4 / 3

    /// - Parameter previousKeys: cursors made with them are still opened, so that a change of keys makes nobody fetch
    ///   everything again.
    package init(key: SymmetricKey, previousKeys: [SymmetricKey] = []) {
        self.key = key
        self.previousKeys = previousKeys
    }

    /// The cursor for the end of a batch of a workspace.
    package func cursor(_ head: Head, workspace: String) -> String {
        var bytes: [UInt8] = [Self.version]
        bytes.reserveCapacity(Self.payloadCount + Self.macCount)
        for word in [UInt64(bitPattern: head.epoch), UInt64(bitPattern: head.seq), head.nonce] {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
            }
        }
        bytes += mac(bytes, workspace, key)
        return Base64URL.encode(bytes)
    }

    /// The place that a cursor names; `nil` when it was made with none of the keys for this workspace. Its time is 0.
    package func open(_ cursor: String, workspace: String) -> Head? {
        guard cursor.utf8.count == Self.textCount, let bytes = Base64URL.decode(cursor.utf8),
            bytes.count == Self.payloadCount + Self.macCount, bytes[0] == Self.version
        else { return nil }
        let payload = Array(bytes[..<Self.payloadCount])
        let isOurs = isMade(payload, workspace, key, bytes[Self.payloadCount...])
        guard isOurs || previousKeys.contains(where: { isMade(payload, workspace, $0, bytes[Self.payloadCount...]) })
        else { return nil }
        let words = [1, 9, 17].map { start in payload[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        return Head(seq: Int64(bitPattern: words[1]), nonce: words[2], time: 0, epoch: Int64(bitPattern: words[0]))
    }

    /// Constant time for each key: every byte is compared.
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
