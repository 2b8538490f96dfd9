import Crypto
import Foundation
import TidemarkHub

extension ServerConfiguration {
    /// Returns the seal for cursors. Makes a key if there is none and no other process needs it.
    func cursorSeal() throws(ConfigurationError) -> CursorSeal {
        if let cursors { return cursors }
        guard case .sqlite(let path) = database else {
            throw ConfigurationError(.cursorKeyFile, "there is no key to seal cursors with")
        }
        return try CursorKeys.seal(beside: path)
    }
}

/// The keys that seal cursors. All nodes on a database need the same keys; their holder can neither sign a token nor
/// read anything.
///
/// They come from their own file if there is one, and from the secrets for tokens. If there is neither and
/// one process owns the database, a key is made and kept beside it.
struct CursorKeys: Sendable {
    /// The first key seals, all keys open.
    private var keys: [SymmetricKey]

    init(own: [SymmetricKey], secret: ServerSecret?) { keys = own + (secret?.cursorKeys ?? []) }

    /// `nil` while there is no key.
    var seal: CursorSeal? {
        keys.first.map { CursorSeal(key: $0, previousKeys: Array(keys.dropFirst())) }
    }

    /// The seal of the key that is kept beside a SQLite file. A missing key is made.
    static func seal(beside database: String) throws(ConfigurationError) -> CursorSeal {
        let path = URL(fileURLWithPath: database).deletingPathExtension().path + ".cursor_key"
        if !FileManager.default.fileExists(atPath: path) { try make(path) }
        guard let contents = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError(.cursorKeyFile, "cannot read the file \(path)")
        }
        let lines = try SecretLines(Array(contents), from: .cursorKeyFile)
        return CursorSeal(key: lines.cursorKeys[0], previousKeys: Array(lines.cursorKeys.dropFirst()))
    }

    private static func make(_ path: String) throws(ConfigurationError) {
        do {
            // If two processes make a key, both read the one that was first.
            _ = try KeptSecret.keep(KeptSecret.random(), at: path)
        } catch {
            throw ConfigurationError(
                .cursorKeyFile, "cannot write the key for cursors to \(path); name a file that holds one here")
        }
    }
}
