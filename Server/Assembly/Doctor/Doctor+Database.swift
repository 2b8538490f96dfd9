import Foundation
import TidemarkEmbeddedStore
import TidemarkModel
import TidemarkNode
import TidemarkStore

extension Doctor {
    /// The thresholds of the alerts.
    private static let diskBytesMin = 2e9
    private static let backupAgeMax: Milliseconds = 2 * 86_400_000

    func database(_ configuration: ServerConfiguration) async -> [DoctorFinding] {
        switch configuration.database {
        case .sqlite(let path): return await file(path, configuration)
        case .postgres(let uri): return await postgres(uri, configuration)
        }
    }

    private func file(_ path: String, _ configuration: ServerConfiguration) async -> [DoctorFinding] {
        var found: [DoctorFinding] = []
        if let free = DiskSpace.free(at: path) {
            found.append(
                free >= Self.diskBytesMin
                    ? .well("disk", "\(Span.bytes(free)) are free where \(path) is")
                    : .wrong(
                        "disk", "\(Span.bytes(free)) are left where \(path) is",
                        why: "A full disk stops all writes; stored records are safe.",
                        do: "Free some space, or move the file to a larger disk while the server is stopped."))
        }
        guard FileManager.default.fileExists(atPath: path) else {
            return found + [
                .look(
                    "database", "\(path) does not exist yet", why: "The first start makes it, and needs a schema.",
                    do: "Start the server, or name its database file: --database sqlite:PATH")
            ]
        }
        do {
            let state = try EmbeddedSnapshot.with(path) { try $0.state() }
            found.append(
                Self.generation(
                    state.generation, own: EmbeddedSnapshot.own, "SQLite \(state.version)")
            )
            found.append(backup(try await EmbeddedBackupNote(beside: path).lastVerifiedBackup(), configuration))
        } catch {
            found.append(unreadable("\(error)"))
        }
        return found
    }

    func unreadable(_ reason: String) -> DoctorFinding {
        .wrong(
            "database", reason, why: "A server that cannot read it does not start, or answers 'unavailable'.",
            do: "Start the database, correct its address, or fix the reason.")
    }

    /// - Parameters:
    ///   - role: the role of PostgreSQL that the connection has.
    ///   - foreignOwner: the role that the tables belong to, if it is another one.
    static func generation(
        _ generation: Int, own: Int, _ engine: String, role: String? = nil, foreignOwner: String? = nil,
        hasData: Bool = true
    ) -> DoctorFinding {
        let what = "\(engine), tables of generation \(generation), this version's is \(own)"
        guard generation < own else { return .well("database", what) }
        if let owner = foreignOwner {
            return .wrong(
                "database", "\(what); the tables belong to the role \(owner)",
                why: "The next start migrates them, which only their owner may do: it fails.",
                do: "Connect as \(owner), or make \(role ?? "the role") a member of it:"
                    + " GRANT \(owner) TO \(role ?? "…").")
        }
        return .look(
            "database", what, why: "The next start migrates them, while serving if possible.",
            do: (hasData ? "'tidemark backup FOLDER' first: there is no other way back. " : "")
                + "'tidemark migrate --plan' says what it does and how long it may take.")
    }

    func backup(_ taken: Milliseconds?, _ configuration: ServerConfiguration) -> DoctorFinding {
        let remedy = "tidemark backup FOLDER --database …, which verifies what it made; run it daily by a timer."
        guard let taken else {
            return .look(
                "backup", "there is no verified backup", why: "If the disk fails, its records are lost.", do: remedy)
        }
        let age = now() - taken
        let what = "the newest verified backup is \(Span.words(Double(age) / 1_000)) old"
        if case .age(let kept) = configuration.limits.node.durable, age > Milliseconds(kept / .milliseconds(1)) {
            let span = Span.words(Double(kept / .milliseconds(1)) / 1_000)
            return .look(
                "backup", "\(what), and devices keep their writes for \(span)",
                why: "After a restore, devices no longer offer the writes between the two times: they are lost.",
                do: remedy
                    + " Or set TIDEMARK_DURABLE to the age of the oldest backup that you would restore, or to backup.")
        }
        guard age > Self.backupAgeMax else { return .well("backup", what) }
        return .look("backup", what, why: "After a restore, newer writes exist on devices only.", do: remedy)
    }
}
