import Crypto
import Foundation
import TidemarkHub

extension ServerConfiguration {
    /// What cursors are sealed with; makes a key where there is none and nobody else needs it.
    func cursorSeal() throws(ConfigurationError) -> CursorSeal {
        if let cursors { return cursors }
        guard case .sqlite(let path) = database else {
            throw ConfigurationError(.cursorKeyFile, "there is no key to seal cursors with")
        }
        return try CursorKeys.seal(beside: path)
    }
}

/// The keys that cursors are sealed with: all nodes on a database need the same, and who has them can neither sign a token nor
/// read anything.
///
/// They are those of their own file where there is one, and what the secrets for tokens stand for. Where there is neither, and one
/// process has the database for itself, a key is made and kept beside it.
struct CursorKeys: Sendable {
    /// The first seals, all open.
    private var keys: [SymmetricKey]

    init(own: [SymmetricKey], secret: ServerSecret?) { keys = own + (secret?.cursorKeys ?? []) }

    /// `nil` while there is no key.
    var seal: CursorSeal? {
        keys.first.map { CursorSeal(key: $0, previousKeys: Array(keys.dropFirst())) }
    }

    /// The key that is kept beside a SQLite file, made if there is none.
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
            // Of two processes that make one, both read the first.
            _ = try KeptSecret.keep(KeptSecret.random(), at: path)
        } catch {
            throw ConfigurationError(
                .cursorKeyFile, "cannot write the key for cursors to \(path); name a file that holds one here")
        }
    }
}
