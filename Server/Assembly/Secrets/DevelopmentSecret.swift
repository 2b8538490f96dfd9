import Foundation

/// A secret of a server that is started with `--dev`. It is made at the first start and kept in the server's data folder, where the
/// commands of the same user find it.
package struct DevelopmentSecret: Sendable, CustomStringConvertible, CustomReflectable {
    /// The secret's use; the text is the name of its file.
    package enum Purpose: String, Sendable {
        /// Signs and checks users' tokens.
        case tokens = "dev_secret"
        /// The operators' token.
        case operators = "dev_admin_token"
    }

    package let path: String
    /// The file's content, or its future content.
    package let text: String
    private let isKept: Bool

    /// Reads the secret of the server whose data is in this folder, or makes a new one, which ``keep()`` writes.
    init(_ purpose: Purpose, in folder: String) throws(ConfigurationError) {
        path = Self.path(purpose, in: folder)
        if let kept = try Self.kept(at: path) {
            (text, isKept) = (kept, true)
        } else {
            (text, isKept) = (KeptSecret.random(), false)
        }
    }

    /// Reads the secret that a server has kept.
    ///
    /// - Throws: if there is none, with the remedy.
    package init(kept purpose: Purpose, in folder: String) throws(ConfigurationError) {
        path = Self.path(purpose, in: folder)
        guard let kept = try Self.kept(at: path) else {
            let listener = purpose == .operators ? " --admin-listen 127.0.0.1:8081" : ""
            throw ConfigurationError(
                .development,
                "\(path) does not exist: start 'tidemark serve --dev\(listener)' in this folder, or name the folder of"
                    + " its data by --dev-data (that of its SQLite file; ./tidemark-data beside PostgreSQL)")
        }
        (text, isKept) = (kept, true)
    }

    /// Writes a new secret to its file. Does nothing if it is kept already.
    func keep() throws(ConfigurationError) {
        guard !isKept else { return }
        let isOurs: Bool
        do { isOurs = try KeptSecret.keep(text, at: path) } catch {
            throw ConfigurationError(
                .development, "cannot write a secret to \(path); give one by --secret-file and --admin-token-file")
        }
        guard isOurs else {
            throw ConfigurationError(.development, "another server has just made \(path): start again")
        }
    }

    private static func path(_ purpose: Purpose, in folder: String) -> String {
        URL(fileURLWithPath: folder).appending(path: purpose.rawValue).path
    }

    private static func kept(at path: String) throws(ConfigurationError) -> String? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        guard let contents = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError(.development, "cannot read \(path)")
        }
        return String(decoding: contents, as: UTF8.self)
    }

    /// A fixed text, so that no log shows the secret.
    package var description: String { "DevelopmentSecret(redacted)" }

    /// A mirror without children, so that `dump` shows nothing either.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension DatabaseLocation {
    /// The folder of the server's other files: that of the SQLite file, or the usual one beside PostgreSQL.
    package var dataFolder: String {
        URL(fileURLWithPath: path ?? Self.usualPath).deletingLastPathComponent().path
    }
}
