#if PostgreSQL
import TidemarkPostgresStore

extension Doctor {
    /// Checks the owner of a database, the other contents of its schema, and the rights of the role there.
    ///
    /// - Parameter isKnown: true when the database's tables state their generation.
    static func judge(_ ground: PostgresExamination.Ground, isKnown: Bool) -> [DoctorFinding] {
        guard let schema = ground.schema else {
            return .wrong(
                "database", "the schema that search_path names does not exist", why: "A server does not start.",
                do: "CREATE SCHEMA …, or name another one in the address.")
        }
        var found = isKnown ? rights(ground, schema) : unmade(ground, schema)
        if let names = listed(ground.otherTables) {
            found.look(
                "database", "the schema \(schema) also has tables of another application: \(names)",
                why: "'tidemark backup' takes the whole schema, and a restore brings all of it back.",
                do: "\(ownSchema) Move existing tables of Tidemark's there: ALTER TABLE … SET SCHEMA.")
        }
        return found
    }

    private static let ownSchema =
        "Give Tidemark a schema of its own: CREATE SCHEMA tidemark, and ?options=-csearch_path%3Dtidemark in the address."

    /// Checks the rights on tables that are in use.
    private static func rights(_ ground: PostgresExamination.Ground, _ schema: String) -> [DoctorFinding] {
        let (role, owner) = (ground.role, ground.foreignOwner)
        if let names = listed(ground.unwritable) {
            return .wrong(
                "database", "the role \(role) may not write the tables of the schema \(schema): \(names)",
                why: "All commits fail.",
                do: (owner.map { "Connect as \($0), their owner, or as that role: " } ?? "As their owner: ")
                    + "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema.quotedName) TO"
                    + " \(role.quotedName).")
        }
        guard let owner else { return [] }
        return .look(
            "database", "the tables belong to the role \(owner), and the connection uses \(role)",
            why: "Only their owner may change tables: a later version that migrates them does not start.",
            do: "Connect as \(owner), or GRANT \(owner.quotedName) TO \(role.quotedName).")
    }

    /// Checks a schema whose tables are missing or state no generation.
    private static func unmade(_ ground: PostgresExamination.Ground, _ schema: String) -> [DoctorFinding] {
        let role = ground.role
        if let names = listed(ground.unreadable) {
            return .wrong(
                "database", "the role \(role) may not read the tables of the schema \(schema): \(names)",
                why: "A server does not start.",
                do: "Connect as their owner"
                    + (ground.foreignOwner.map { ", \($0), or GRANT \($0.quotedName) TO \(role.quotedName)." }
                        ?? "."))
        }
        if let names = listed(ground.tables) {
            return .wrong(
                "database",
                "tables in the schema \(schema) have names of Tidemark's, and it did not make them:"
                    + " \(names)",
                why: "A server does not start: it cannot make its own. Or a restore into it was interrupted.",
                do: "\(ownSchema) After a restore: run 'tidemark restore' again.")
        }
        var found = [first(ground, schema)]
        if let there = listed(ground.elsewhere) {
            found.look(
                "database",
                "the schema \(schema) has no tables of Tidemark's, but these other schemas of this database have:"
                    + " \(there)",
                why: "A server with this address starts with an empty database.",
                do: "If you expect data, name the schema in the address:"
                    + " ?options=-csearch_path%3D\(ground.elsewhere.first ?? "…")")
        }
        return found
    }

    /// Checks whether the first start can make its tables.
    private static func first(_ ground: PostgresExamination.Ground, _ schema: String) -> DoctorFinding {
        guard ground.mayCreate else {
            let (role, owner) = (ground.role, ground.databaseOwner)
            return .wrong(
                "database",
                "the role \(role) may not make tables in the schema \(schema) of the database \(ground.database), which"
                    + " belongs to \(owner)",
                why: "The first start makes them: it fails.",
                do: "As \(owner): GRANT CREATE ON SCHEMA \(schema.quotedName) TO \(role.quotedName), or ALTER DATABASE"
                    + " \(ground.database.quotedName) OWNER TO \(role.quotedName).")
        }
        return .look(
            "database", "there are no tables of Tidemark's yet",
            why: "The first start makes them, and needs a schema.",
            do: "Start the server, or name the database that it uses.")
    }

    /// Returns the first names and the count of the others; `nil` for no names.
    private static func listed(_ names: [String]) -> String? {
        guard !names.isEmpty else { return nil }
        let rest = names.count - 3
        return names.prefix(3).joined(separator: ", ") + (rest > 0 ? " and \(rest) others" : "")
    }
}

extension String {
    /// The name quoted for a statement that an operator copies.
    var quotedName: String {
        allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "_") } && first?.isNumber == false
            ? self : "\"" + replacing("\"", with: "\"\"") + "\""
    }
}
#endif
