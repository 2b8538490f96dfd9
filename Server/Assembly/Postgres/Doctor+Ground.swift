#if PostgreSQL
import TidemarkPostgresStore

extension Doctor {
    /// Checks whose a database is, what else is in its schema, and what the role may do there.
    ///
    /// - Parameter isKnown: its tables say which generation they are of.
    static func judge(_ ground: PostgresExamination.Ground, isKnown: Bool) -> [DoctorFinding] {
        guard let schema = ground.schema else {
            return [
                .wrong(
                    "database", "the schema that search_path names is not there", why: "A server does not start.",
                    do: "CREATE SCHEMA …, or name another one in the address.")
            ]
        }
        var found = isKnown ? rights(ground, schema) : unmade(ground, schema)
        if let names = listed(ground.otherTables) {
            found.append(
                .look(
                    "database", "the schema \(schema) also has tables of another application: \(names)",
                    why: "'tidemark backup' takes the whole schema, and a restore brings all of it back.",
                    do: "\(ownSchema) Where Tidemark's tables are there already, move them: ALTER TABLE … SET SCHEMA."))
        }
        return found
    }

    private static let ownSchema =
        "Give Tidemark a schema of its own: CREATE SCHEMA tidemark, and ?options=-csearch_path%3Dtidemark in the address."

    /// Tables that are there and in use.
    private static func rights(_ ground: PostgresExamination.Ground, _ schema: String) -> [DoctorFinding] {
        let (role, owner) = (ground.role, ground.foreignOwner)
        if let names = listed(ground.unwritable) {
            return [
                .wrong(
                    "database", "the role \(role) may not write the tables of the schema \(schema): \(names)",
                    why: "All commits fail.",
                    do: (owner.map { "Connect as \($0), whose they are, or as that role: " } ?? "As their owner: ")
                        + "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema.quotedName) TO"
                        + " \(role.quotedName).")
            ]
        }
        guard let owner else { return [] }
        return [
            .look(
                "database", "the tables are the role \(owner)'s, and the connection's is \(role)",
                why: "Only their owner may change tables: a later version that moves them does not start.",
                do: "Connect as \(owner), or GRANT \(owner.quotedName) TO \(role.quotedName).")
        ]
    }

    /// Tables that say nothing of themselves, or are not there.
    private static func unmade(_ ground: PostgresExamination.Ground, _ schema: String) -> [DoctorFinding] {
        let role = ground.role
        if let names = listed(ground.unreadable) {
            return [
                .wrong(
                    "database", "the role \(role) may not read the tables of the schema \(schema): \(names)",
                    why: "A server does not start.",
                    do: "Connect as their owner"
                        + (ground.foreignOwner.map { ", \($0), or GRANT \($0.quotedName) TO \(role.quotedName)." }
                            ?? "."))
            ]
        }
        if let names = listed(ground.tables) {
            return [
                .wrong(
                    "database",
                    "tables in the schema \(schema) have names of Tidemark's, and it did not make them:"
                        + " \(names)",
                    why: "A server does not start: it cannot make its own. Or a restore into it was cut short.",
                    do: "\(ownSchema) Of a restore: run 'tidemark restore' again.")
            ]
        }
        var found = [first(ground, schema)]
        if let there = listed(ground.elsewhere) {
            found.append(
                .look(
                    "database",
                    "the schema \(schema) has no tables of Tidemark's, and other schemas of this database have:"
                        + " \(there)",
                    why: "A server with this address begins anew, with nothing in it.",
                    do: "If that is not meant, name the schema in the address:"
                        + " ?options=-csearch_path%3D\(ground.elsewhere.first ?? "…")"))
        }
        return found
    }

    /// Checks what the first start will meet.
    private static func first(_ ground: PostgresExamination.Ground, _ schema: String) -> DoctorFinding {
        guard ground.mayCreate else {
            let (role, owner) = (ground.role, ground.databaseOwner)
            return .wrong(
                "database",
                "the role \(role) may not make tables in the schema \(schema) of the database \(ground.database), which"
                    + " is \(owner)'s",
                why: "The first start makes them: it fails.",
                do: "As \(owner): GRANT CREATE ON SCHEMA \(schema.quotedName) TO \(role.quotedName), or ALTER DATABASE"
                    + " \(ground.database.quotedName) OWNER TO \(role.quotedName).")
        }
        return .look(
            "database", "there are no tables of Tidemark's yet",
            why: "The first start makes them, and needs a schema.",
            do: "Start the server, or name the database that it has.")
    }

    /// The first of some names, and how many there are; `nil` for none.
    private static func listed(_ names: [String]) -> String? {
        guard !names.isEmpty else { return nil }
        let rest = names.count - 3
        return names.prefix(3).joined(separator: ", ") + (rest > 0 ? " and \(rest) others" : "")
    }
}

extension String {
    /// The name quoted for a statement that somebody copies.
    var quotedName: String {
        allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "_") } && first?.isNumber == false
            ? self : "\"" + replacing("\"", with: "\"\"") + "\""
    }
}
#endif
