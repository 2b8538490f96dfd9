#if PostgreSQL
import TidemarkModel
import TidemarkPostgres
import TidemarkPostgresStore
import TidemarkStore

extension Doctor {
    func postgres(_ uri: String, _ configuration: ServerConfiguration) async -> [DoctorFinding] {
        var found: [DoctorFinding] = []
        do {
            let connection = try PostgresConfiguration(connectionString: uri)
            let examination = try await PostgresExamination.run(connection, now: now, logger: logger)
            found += Self.judge(examination, configuration)
            found += Self.judge(examination.ground, isKnown: examination.generation != nil)
            if let generation = examination.generation, let oldest = examination.oldest {
                let state = StoredState(generation: generation, oldest: oldest, revision: 0, version: "")
                try PostgresExamination.check(state)
                found.append(
                    Self.generation(
                        generation, own: PostgresExamination.own,
                        "PostgreSQL \(examination.serverVersion / 10_000).\(examination.serverVersion % 10_000)",
                        examination.ground))
                found.append(backup(examination.lastBackup, configuration))
            }
            found += Self.judge(try await ConnectionProbe.run(connection))
        } catch {
            found.append(unreadable("\(error)"))
        }
        return found
    }

    static func generation(
        _ generation: Int, own: Int, _ engine: String, _ ground: PostgresExamination.Ground
    ) -> DoctorFinding {
        Self.generation(
            generation, own: own, engine, role: ground.role, foreignOwner: ground.foreignOwner,
            hasData: ground.hasData)
    }
}

// MARK: The settings of PostgreSQL

extension Doctor {
    /// The difference of clocks that is reported, and the one that is wrong.
    private static let (clockSoon, clockNow): (Milliseconds, Milliseconds) = (1_000, 30_000)
    private static let versionMin = 150_000

    static func judge(_ examination: PostgresExamination, _ configuration: ServerConfiguration) -> [DoctorFinding] {
        var found: [DoctorFinding] = []
        let settings = examination.settings
        if examination.serverVersion < versionMin {
            found.wrong(
                "postgres", "PostgreSQL is version \(examination.serverVersion / 10_000)",
                why: "Tidemark is made for 15 and later.", do: "Upgrade the database server.")
        }
        if let finding = readOnly(examination) { found.append(finding) }
        for name in ["fsync", "full_page_writes"] where settings[name] == "off" {
            found.wrong(
                "postgres", "\(name) is off", why: "A crash of the machine can destroy the database.",
                do: "\(name) = on in postgresql.conf, and reload.")
        }
        if settings["synchronous_commit"] == "off" {
            found.look(
                "postgres", "synchronous_commit is off",
                why: "A crash loses the newest writes that devices hold as settled; they offer them again.",
                do: "synchronous_commit = on for this database or its role.")
        }
        if let timeout = settings["idle_session_timeout"], timeout != "0" {
            found.look(
                "postgres", "idle_session_timeout is \(timeout) ms",
                why:
                    "The connection for other servers' commits is closed each time it is idle for that long.",
                do: "ALTER ROLE … SET idle_session_timeout = 0 for Tidemark's role.")
        }
        if let encoding = settings["server_encoding"], encoding != "UTF8" {
            found.wrong(
                "postgres", "the database's encoding is \(encoding)", why: "Text of other scripts is refused.",
                do: "Make a database with ENCODING 'UTF8', and move the data by backup and restore.")
        }
        let limits = configuration.limits.postgres
        let needed = limits.sequencingConnections + limits.readingConnections + 1
        if let most = settings["max_connections"].flatMap(Int.init), examination.connections + needed > most {
            found.look(
                "postgres",
                "\(examination.connections) of \(most) connections are taken, and a server needs \(needed)",
                why: "A server without a connection answers 'unavailable'; a running one's are among those taken.",
                do: "Raise max_connections, or lower TIDEMARK_LIMIT_POSTGRES_WRITERS and …_READERS.")
        }
        found.append(clock(examination.clockAhead, doubt: examination.clockDoubt))
        return found
    }

    private static func readOnly(_ examination: PostgresExamination) -> DoctorFinding? {
        if examination.isStandby {
            return .wrong(
                "postgres", "the database accepts no writes: it is a standby", why: "All commits fail.",
                do: "Name the primary in the address (target_session_attrs=read-write chooses it).")
        }
        let names = ["default_transaction_read_only", "transaction_read_only"]
        guard let name = names.first(where: { examination.settings[$0] == "on" }) else { return nil }
        let (database, role) = (examination.ground.database.quotedName, examination.ground.role.quotedName)
        return .wrong(
            "postgres", "\(name) is on: the database, its server or the role is set to read only",
            why: "A server does not become ready, and its tables are not migrated.",
            do: "ALTER DATABASE \(database) RESET default_transaction_read_only; the same for ALTER ROLE \(role), or in"
                + " postgresql.conf; and leave it out of the address.")
    }

    /// - Parameter ahead: the lead of the database's clock, in milliseconds.
    static func clock(_ ahead: Milliseconds, doubt: Milliseconds) -> DoctorFinding {
        let off = max(0, abs(ahead) - doubt)
        let what = "the database's clock is \(abs(ahead)) ms \(ahead < 0 ? "behind" : "ahead of") this machine's"
        guard off > clockSoon else { return .well("clock", what) }
        let why = "Times of records, tokens' expiry and the figures of delivery are wrong by as much."
        let remedy = "Let both follow a time server (chrony, systemd-timesyncd)."
        return off > clockNow ? .wrong("clock", what, why: why, do: remedy) : .look("clock", what, why: why, do: remedy)
    }

    static func judge(_ probe: ConnectionProbe) -> [DoctorFinding] {
        guard let pooler = probe.pooler else {
            return [
                probe.hears
                    ? .well("pooler", "there is no pooler, and NOTIFY is received")
                    : .look(
                        "pooler", "no NOTIFY is received within two seconds",
                        why: "Servers learn of each other's commits by polling, seconds later.",
                        do: "Look for the cause: a proxy, or a server that is too busy.")
            ]
        }
        guard probe.sharesSessions || !probe.hears || !probe.keepsStatements else {
            return .well("pooler", "\(pooler) is in use, and leaves sessions whole")
        }
        var broken: [String] = []
        if !probe.hears { broken.append("LISTEN receives nothing") }
        if !probe.keepsStatements { broken.append("prepared statements are lost") }
        if probe.sharesSessions { broken.append("advisory locks and settings of a session reach another client's") }
        let mode = probe.sharesSessions ? " in transaction mode" : ""
        return .wrong(
            "pooler", "\(pooler) is in use\(mode): \(broken.joined(separator: ", "))",
            why: "Commits fail or hang, and other servers' commits are seen late.",
            do: "Connect to PostgreSQL itself, or to a pool of that pooler whose mode is session.")
    }
}
#endif
