import Foundation
package import TidemarkModel
package import TidemarkStore

/// The description of a backup and its content: `manifest.json` in its folder. See `BACKUP.md`.
package struct BackupManifest: Codable, Hashable, Sendable {
    /// The format that this version writes and reads.
    package static let currentFormat = 1
    /// The maximum number of bytes in a manifest; ten thousand workspaces take less than four megabytes.
    package static let bytesMax = 256 << 20

    /// The maximum of counts and bytes: no true value comes near it, and sums of a few do not overflow.
    private static let countMax: Int64 = 1 << 53
    /// The end of the year 9999, in milliseconds.
    private static let timeMax: Milliseconds = 253_402_300_799_999

    /// The kind of store that the backup was made of.
    package enum Store: String, Codable, Hashable, Sendable {
        case sqlite, postgres

        /// The store's name for people.
        package var name: String { self == .sqlite ? "SQLite" : "PostgreSQL" }
    }

    /// A file beside the manifest.
    package struct File: Codable, Hashable, Sendable {
        package var name: String
        package var bytes: Int64
        /// 64 lower-case hexadecimal digits.
        package var sha256: String
    }

    /// A workspace as it was when the backup was taken, see `WorkspaceSummary`.
    struct Workspace: Codable, Hashable, Sendable {
        var name: String
        var head: Int64
        /// 16 hexadecimal digits.
        var nonce: String
        var epoch: Int64
        var time: Int64
        var horizon: Int64
        var batches: Int64
        var records: Int64
        /// 32 hexadecimal digits.
        var digest: String
        var tombstones: Int64
        var clients: Int64
        var members: Int64
        var ledger: Int64
        var blobs: Int
        var blobBytes: Int64
    }

    package let format: Int
    /// Name and version of the program that made the backup.
    package let program: String
    package let store: Store
    /// The version of SQLite or PostgreSQL.
    package let storeVersion: String
    /// The generation of the tables.
    package let generation: Int
    /// The oldest generation whose nodes the database served.
    package let oldest: Int
    /// The revision of the apps' schema; 0 for none.
    package let schemaRevision: Int64
    /// The moment that the backup shows, in milliseconds; `ended` is the time at which it was complete.
    package let taken: Milliseconds
    package let ended: Milliseconds
    package var files: [File]
    private var workspaces: [Workspace]

    package init(
        program: String, store: Store, state: StoredState, taken: Milliseconds, ended: Milliseconds, files: [File],
        workspaces: [WorkspaceSummary]
    ) {
        format = Self.currentFormat
        self.program = program
        self.store = store
        storeVersion = state.version
        generation = state.generation
        oldest = state.oldest
        schemaRevision = state.revision
        self.taken = taken
        self.ended = ended
        self.files = files
        self.workspaces = workspaces.map(Workspace.init)
    }

    /// The workspaces in the backup, in the order of their names' bytes.
    package var summaries: [WorkspaceSummary] { workspaces.compactMap(\.summary) }

    /// The version marks of the database, without the store's version.
    package var state: StoredState {
        StoredState(generation: generation, oldest: oldest, revision: schemaRevision, version: "")
    }

    /// Returns the manifest as JSON that people can read; it ends with a line feed.
    package func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
    }

    /// Reads and checks a manifest.
    ///
    /// - Throws: ``BackupError`` that names the error and its path in the file.
    package init(decoding bytes: [UInt8]) throws(BackupError) {
        struct Format: Decodable {
            var format: Int
        }
        let json = Data(bytes)
        do {
            let format = try JSONDecoder().decode(Format.self, from: json).format
            guard format == Self.currentFormat else {
                throw BackupError(
                    .unusable,
                    "manifest.json is of format \(format), and this version of tidemark reads format"
                        + " \(Self.currentFormat): use the version that made it")
            }
            self = try JSONDecoder().decode(Self.self, from: json)
        } catch let error as BackupError {
            throw error
        } catch let error as DecodingError {
            throw BackupError(.damaged, "manifest.json cannot be parsed: \(error.mistake)")
        } catch {
            throw BackupError(.damaged, "manifest.json cannot be parsed: it is not JSON, or truncated")
        }
        try check()
    }

    private func check() throws(BackupError) {
        for (index, workspace) in workspaces.enumerated() where workspace.summary == nil {
            throw BackupError(
                .damaged,
                "manifest.json cannot be parsed: workspaces[\(index)] has an invalid name, number, nonce or digest")
        }
        guard files.allSatisfy({ (0...Self.countMax).contains($0.bytes) }),
            [taken, ended].allSatisfy((0...Self.timeMax).contains)
        else { throw BackupError(.damaged, "manifest.json cannot be parsed: a time or a file's size is out of range") }
        let expected = store == .sqlite ? BackupFolder.sqliteFiles : BackupFolder.postgresFiles
        // Only names that this program gives are valid: a manifest cannot point anywhere else.
        guard files.map(\.name).sorted() == expected.sorted() else {
            throw BackupError(
                .damaged,
                "manifest.json names the files \(files.map { $0.name.debugDescription }.joined(separator: ", ")),"
                    + " and a backup of \(store.name) has \(expected.joined(separator: ", "))")
        }
    }

    /// Returns the differences between a database and the manifest, one finding for each workspace.
    package func differences(from found: [WorkspaceSummary], called database: String) -> [Finding] {
        let expected = Dictionary(summaries.map { ($0.workspace, $0) }, uniquingKeysWith: { first, _ in first })
        let found = Dictionary(found.map { ($0.workspace, $0) }, uniquingKeysWith: { first, _ in first })
        return Set(expected.keys).union(found.keys).sorted().compactMap { name in
            switch (expected[name], found[name]) {
            case (let expected?, let found?):
                let different = zip(expected.values, found.values).filter { $0.value != $1.value }
                guard !different.isEmpty else { return nil }
                let texts = different.map { "\($0.name) \($0.value), and \(database) has \($1.value)" }
                return Finding(.manifest, name, "the manifest says " + texts.joined(separator: "; "))
            case (_?, nil): return Finding(.manifest, name, "the manifest has it, and \(database) does not")
            case (nil, _): return Finding(.manifest, name, "\(database) has it, and the manifest does not")
            }
        }
    }
}

extension BackupManifest.Workspace {
    init(_ summary: WorkspaceSummary) {
        self.init(
            name: summary.workspace.text, head: summary.head.seq, nonce: summary.head.nonce.hexadecimal,
            epoch: summary.head.epoch, time: summary.head.time, horizon: summary.horizon, batches: summary.batches,
            records: summary.digest.count, digest: summary.digest.text, tombstones: summary.tombstones,
            clients: summary.clients, members: summary.members, ledger: summary.ledger, blobs: summary.blobs.blobs,
            blobBytes: summary.blobs.bytes)
    }

    var summary: WorkspaceSummary? {
        guard let workspace = WorkspaceID(checking: name), let nonce = UInt64(nonce, radix: 16),
            let digest = RecordDigest(count: records, text: digest),
            [head, horizon, batches, tombstones, clients, members, ledger, Int64(blobs), blobBytes].allSatisfy({
                $0 >= 0
            })
        else { return nil }
        return WorkspaceSummary(
            workspace: workspace, head: Head(seq: head, nonce: nonce, time: time, epoch: epoch), horizon: horizon,
            batches: batches, digest: digest, tombstones: tombstones, clients: clients, members: members,
            ledger: ledger, blobs: BlobUsage(blobs: blobs, bytes: blobBytes))
    }
}

extension DecodingError {
    /// The missing or wrong member and its path; no values.
    fileprivate var mistake: String {
        func path(_ context: Context) -> String {
            context.codingPath.reduce("") { path, key in
                key.intValue.map { "\(path)[\($0)]" } ?? (path.isEmpty ? key.stringValue : "\(path).\(key.stringValue)")
            }
        }
        switch self {
        case .keyNotFound(let key, let context):
            let parent = path(context)
            return "\(key.stringValue) is missing" + (parent.isEmpty ? "" : " in \(parent)")
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            return "\(path(context)) is of another type"
        case .dataCorrupted(let context):
            let member = path(context)
            return member.isEmpty ? "it is not JSON, or truncated" : "\(member) is invalid"
        @unknown default: return "it is of another shape"
        }
    }
}
