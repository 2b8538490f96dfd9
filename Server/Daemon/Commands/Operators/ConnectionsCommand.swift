import ArgumentParser
import TidemarkCommandLine
import TidemarkIdentity
import TidemarkModel

/// `tidemark connections`: open and closed connections, and refused writes.
struct ConnectionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connections",
        abstract: "List the connections of a running server, closed ones with the reason, or refused writes.",
        discussion: """
            Columns, separated by tabs; - is an empty column.
            Open: user, workspace, device, app, address, since, last heard, bytes sent, bytes not confirmed, changes behind.
            --closed: end, code, reason, user, workspace, device, address, since.
            --refused: time, code, reason, user, workspace, device, transaction, records.

            EXAMPLES
              tidemark connections --sort lag --limit 20 --admin-token-file admin_tokens
              tidemark connections --closed --user bob --dev
              tidemark connections --refused --dev
            """)

    enum Order: String, CaseIterable, ExpressibleByArgument {
        case bytes, pending, lag, last, since
    }

    @Option(help: "The order of open connections, the largest first: bytes, pending, lag, last or since.")
    var sort = Order.since

    @Flag(help: "The smallest first.")
    var ascending = false

    @Flag(help: "The last 1,000 that were closed, the newest first, and why.")
    var closed = false

    @Flag(help: "The last 1,000 writes that were refused, the newest first.")
    var refused = false

    @Option(help: "Only those of this user.")
    var user: String?

    @Option(help: "Only those in this workspace.")
    var workspace: String?

    @Option(help: ArgumentHelp("Only those of this device.", valueName: "id"))
    var device: DevicesCommand.DeviceID?

    @Option(help: "The most lines to print, up to 1000.")
    var limit = 100

    @OptionGroup var admin: AdminOptions

    func validate() throws {
        if closed, refused { throw ValidationError("Give --closed or --refused, not both.") }
        guard (1...1_000).contains(limit) else { throw ValidationError("--limit is from 1 to 1000.") }
    }

    func run() async throws {
        let filter = [
            ("workspace", workspace), ("user", user), ("client", device.map { "\($0.id)" }), ("limit", "\(limit)"),
        ]
        if refused {
            let answer = try await admin.call("refused", filter)
            guard !admin.printsJSON(answer) else { return }
            for row in answer.list("refused") {
                var records = "-"
                if case .array(let names)? = row["records"], !names.isEmpty {
                    records = names.compactMap { if case .string(let name) = $0 { name.withoutSteering } else { nil } }
                        .joined(separator: ",")
                }
                let columns = ["code", "msg", "user", "workspace", "client", "transaction"].map { row.word($0) }
                print(([row.day("time")] + columns + [records]).joined(separator: "\t"))
            }
        } else if closed {
            let answer = try await admin.call("connections/closed", filter)
            guard !admin.printsJSON(answer) else { return }
            for row in answer.list("connections") {
                let columns = ["code", "reason", "user", "workspace", "client", "address"].map { row.word($0) }
                print(([row.day("closed")] + columns + [row.day("since")]).joined(separator: "\t"))
            }
        } else {
            let order = [("sort", sort.rawValue as String?), ("order", ascending ? "asc" : "desc")]
            let answer = try await admin.call("connections", filter + order)
            guard !admin.printsJSON(answer) else { return }
            for row in answer.list("connections") {
                let names = ["user", "workspace", "client", "app", "address"].map { row.word($0) }
                let counts = ["bytes", "pending", "lag"].map { row.word($0) }
                print((names + [row.day("since"), row.day("last")] + counts).joined(separator: "\t"))
            }
        }
    }
}

/// `tidemark audit`: the changes of operators.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "List what operators changed, the newest first.",
        discussion: """
            Columns, separated by tabs: number, time, who, what, workspace, user, argument, why, outcome. An act \
            without an outcome is still running, or was interrupted. The database keeps the last 100,000.

            EXAMPLES
              tidemark audit --limit 20 --admin-token-file admin_tokens
            """)

    @Option(help: "The most acts to print, up to 1000.")
    var limit = 100

    @Option(help: "Only those with a smaller number.")
    var before: Int64?

    @OptionGroup var admin: AdminOptions

    func validate() throws {
        guard (1...1_000).contains(limit) else { throw ValidationError("--limit is from 1 to 1000.") }
    }

    func run() async throws {
        let answer = try await admin.call("audit", [("limit", "\(limit)"), ("before", before.map { "\($0)" })])
        guard !admin.printsJSON(answer) else { return }
        for row in answer.list("acts") {
            let columns = ["who", "act", "workspace", "user", "argument", "why", "outcome"].map { name in
                let word = row.word(name)
                return word.isEmpty ? "-" : word
            }
            print(([row.word("number"), row.day("time")] + columns).joined(separator: "\t"))
        }
    }
}

/// `tidemark record`: a record and the history of its fields.
struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Print a record, and who changed which field when, as far as that is kept.",
        discussion: """
            The history comes from two sources. The log of the order is kept for LOG_DAYS (by default only for as long \
            as other servers need it), with at most the last 65,536 changes. Values that were overwritten unseen are \
            kept for LEDGER_DAYS. The output says from which number on all writes are known.

            EXAMPLES
              tidemark record messages/018f3a2b-0000-7000-8000-000000000001 --workspace acme --dev
            """)

    @Argument(help: ArgumentHelp("The record, as COLLECTION/ID or by its id alone.", valueName: "record"))
    var record: String

    @Option(help: "How many numbers to look back, up to 200000.")
    var span: Int64 = 20_000

    @OptionGroup var place: AdminWorkspace
    @OptionGroup var admin: AdminOptions

    func run() async throws {
        let answer = try await admin.call(
            "record", [("workspace", place.workspace), ("record", record), ("span", "\(span)")])
        guard !admin.printsJSON(answer) else { return }
        let records = answer.list("records")
        guard !records.isEmpty else { throw CommandFailure("no such record is stored in \(place.workspace)") }
        for record in records { Self.tell(record) }
    }

    private static func tell(_ record: Fields) {
        let isDeleted = record["deleted"] == .boolean(true)
        print(
            "\(record.word("collection"))/\(record.word("id")): \(isDeleted ? "deleted" : "living"), #\(record.word("seq")), "
                + "created #\(record.word("born")) by \(record.word("author")), scope \(record.word("scope"))")
        if !isDeleted { print("fields: \((record["fields"]?.json ?? "{}").withoutSteering)") }
        print("all writes are known from #\(record.word("known_from")) on")
        for step in record.list("history") {
            print(
                "#\(step.word("seq"))  \(step.day("time"))  \(step.word("kind"))  by \(step.word("author"))"
                    + "  device \(step.word("client"))")
            for change in step.list("changes") {
                let (old, new) = (change["old"]?.json ?? "nothing", change["new"]?.json ?? "nothing")
                let unseen = change["unseen"] == .boolean(true) ? "  (old value not seen by its writer)" : ""
                print("    \(change.word("field")): \(old.withoutSteering) -> \(new.withoutSteering)\(unseen)")
            }
        }
    }
}
