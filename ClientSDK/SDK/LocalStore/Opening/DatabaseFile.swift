package import TidemarkModel

/// The name of an account's file.
package enum DatabaseFile {
    /// Returns a readable name, different for accounts that differ only by case or after the readable part.
    package static func name(_ account: UserID) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        var readable = ""
        for byte in account.text.utf8 {
            // FNV-1a, 64 bits.
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
            let isPlain = (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
            if readable.utf8.count < 64 { readable.unicodeScalars.append(isPlain ? Unicode.Scalar(byte) : "_") }
        }
        return "\(readable)-\(String(hash, radix: 16)).sqlite"
    }
}
