import Crypto
import TidemarkModel
package import TidemarkStore

/// Checks a database row by row and summarises it: pure, in one pass, for every kind of source.
///
/// Memory: some 300 bytes for each workspace and some 100 for each blob; nothing for records. Not Sendable: it stays
/// with its reader.
package final class DatabaseAudit {
    private var workspaces: [WorkspaceID: AuditedWorkspace] = [:]
    private var blobs = BlobAudit()
    private var findings = Findings()
    /// The number of rows that were taken.
    package private(set) var rows: Int64 = 0

    package init() {}

    /// Checks the rows of all tables of a source.
    ///
    /// - Parameter progress: receives the number of rows so far, now and then.
    /// - Throws: what the source throws.
    package func take(all source: some RowSource, progress: (Int64) -> Void) throws {
        for table in StoredTable.audited {
            try source.rows(of: table) { row in
                take(row, of: table)
                if rows % 1_000 == 0 { progress(rows) }
            }
        }
    }

    /// Adds a fault that the source itself found and that no row can express.
    package func add(_ finding: Finding) { findings.add(finding) }

    /// Checks the next row; tables come in the order of ``StoredTable/audited``.
    package func take(_ row: TableRow, of table: StoredTable) {
        rows += 1
        var values = RowValues(row, of: table)
        do throws(StoreError) { try read(&values, table.name) } catch {
            findings.add(Finding(.row, "a row of \(table.name) cannot be read: \(error.reason)"))
        }
    }

    private func read(_ row: inout RowValues, _ table: String) throws(StoreError) {
        let name = try row.workspace()
        switch table {
        // A missing horizon is that of an earlier generation.
        case "sync_workspace": workspaces[name] = AuditedWorkspace(horizon: try row.optionalInteger() ?? 0)
        case "sync_batch":
            let (low, head) = (try row.integer(), try row.head())
            change(name, "a batch") { $0.take(low: low, head) }
        case "sync_record":
            let record = try row.record()
            change(name, "a record") { $0.take(record) }
        case "sync_client":
            let client = ClientRow(
                id: try row.id(), user: UserID(try row.text()), settledThrough: try row.integer(),
                ackedThrough: try row.integer(), connection: try row.integer())
            let kept = try row.bytes() ?? []
            change(name, "a client") { $0.take(client, kept: kept) }
        case "sync_member":
            let (user, scope) = (UserID(try row.text()), try row.scope())
            let (role, since) = (try row.text(), try row.integer())
            change(name, "a member") { $0.take(user, scope, role: role, since: since) }
        case "sync_ledger":
            let (key, seq, rule) = (try row.key(), try row.integer(), try row.text())
            let (old, new) = (try row.bytes(), try row.bytes())
            change(name, "a ledger entry") { $0.take(key, at: seq, rule: rule, old, new) }
        default: try readBlobs(&row, table, of: name)
        }
    }

    private func readBlobs(_ row: inout RowValues, _ table: String, of name: WorkspaceID) throws(StoreError) {
        switch table {
        case "sync_blob":
            let (digest, bytes) = (try row.digest(), try row.integer())
            change(name, "a blob") { workspace in
                workspace.blobs.blobs += 1
                workspace.blobs.bytes &+= max(bytes, 0)
                return nil
            }
            blobs.begin(name, digest, bytes: bytes).map { findings.add($0) }
        case "sync_blob_part":
            let (digest, start) = (try row.digest(), try row.integer())
            blobs.take(name, digest, start: start, try row.bytes() ?? []).map { findings.add($0) }
        case "sync_blob_scope":
            let (scope, digest) = (try row.scope(), try row.digest())
            if !blobs.contains(name, digest) {
                findings.add(Finding(.blob, name, "scope \(scope) has blob \(digest), which does not exist"))
            }
        case "sync_blob_usage":
            let usage = BlobUsage(blobs: Int(clamping: try row.integer()), bytes: try row.integer())
            change(name, "a count of blobs") { workspace in
                workspace.usage = usage
                return nil
            }
        default: throw StoreError(.invariant, "this table is unknown")
        }
    }

    private func change(
        _ name: WorkspaceID, _ what: String, _ body: (inout AuditedWorkspace) -> (Finding.Kind, String)?
    ) {
        // Changed in place: one search, and no copy.
        if let index = workspaces.index(forKey: name) {
            if let (kind, text) = body(&workspaces.values[index]) { findings.add(Finding(kind, name, text)) }
            return
        }
        var unknown = AuditedWorkspace(horizon: 0)
        unknown.isKnown = false
        findings.add(Finding(.row, name, "\(what) belongs to it, and sync_workspace does not have it"))
        _ = body(&unknown)
        workspaces[name] = unknown
    }

    /// Returns the result, once every row was taken.
    package func report() -> AuditReport {
        var findings = findings
        for finding in blobs.end() { findings.add(finding) }
        let names = workspaces.keys.sorted()
        var summaries: [WorkspaceSummary] = []
        for name in names {
            guard let workspace = workspaces[name] else { continue }
            for (kind, text) in workspace.end() { findings.add(Finding(kind, name, text)) }
            summaries.append(workspace.summary(name))
        }
        return AuditReport(workspaces: summaries, findings: findings)
    }
}

/// The audit of one workspace while it is built.
struct AuditedWorkspace {
    var isKnown = true
    let horizon: SequenceNumber
    var head = Head.start
    var order = NumberRanges()
    var batches: Int64 = 0
    var digest = RecordDigest()
    var tombstones: Int64 = 0
    var clients: Int64 = 0
    var members: Int64 = 0
    var ledger: Int64 = 0
    var blobs = BlobUsage()
    var usage: BlobUsage?
    /// The batch that was taken last: rows mostly come in order.
    private var last = Head.start

    init(horizon: SequenceNumber) { self.horizon = horizon }

    mutating func take(low: SequenceNumber, _ end: Head) -> (Finding.Kind, String)? {
        batches += 1
        guard low > 0, low <= end.seq else { return (.order, "a batch goes from \(low) to \(end.seq)") }
        defer { last = end }
        if end.seq > head.seq { head = end }
        switch order.insert(low...end.seq) {
        case .added: break
        case .overlaps: return (.order, "the batch \(low)–\(end.seq) has numbers that another batch has as well")
        case .full: return (.order, "there are more than \(NumberRanges.rangesMax) gaps between batches")
        }
        guard last.seq == low - 1, last.seq > 0 else { return nil }
        if end.time < last.time { return (.order, "time goes back at number \(low) (R-18)") }
        if end.epoch < last.epoch { return (.order, "the epoch goes back at number \(low)") }
        return nil
    }

    mutating func take(_ record: StoredRecord) -> (Finding.Kind, String)? {
        let name = "record \(record.key.collection)/\(record.key.id)"
        if record.isDeleted { tombstones += 1 } else { insert(record) }
        guard record.seq <= head.seq else {
            return (.record, "\(name) has number \(record.seq), and the order ends at \(head.seq)")
        }
        guard record.seq <= horizon || order.contains(record.seq) else {
            return (.record, "\(name) has number \(record.seq), which is in no batch")
        }
        guard record.born > 0, record.born <= record.seq else {
            return (.record, "\(name) was born at \(record.born), and has number \(record.seq)")
        }
        guard !record.isDeleted else { return nil }
        return Self.isCanonical(record.body) ? nil : (.body, "the fields of \(name) are not canonical JSON")
    }

    private mutating func insert(_ record: StoredRecord) {
        let input = RecordDigest.input(record.key, at: record.seq, body: record.body)
        digest.insert(RecordDigest.term(sha256: SHA256.hash(data: input)))
    }

    private static func isCanonical(_ body: [UInt8]) -> Bool {
        var limits = JSONLimits()
        // Our own bytes: the bounds of what a client may send do not apply to merged records.
        limits.elementsMax = .max
        // The parser's error is dropped: it would show values.
        guard let fields = try? JSONReader.read(body, limits: limits, { try $0.fields() }) else { return false }
        return fields.canonicalBytes == body
    }

    mutating func take(_ client: ClientRow, kept: [UInt8]) -> (Finding.Kind, String)? {
        clients += 1
        guard client.ackedThrough <= client.settledThrough else {
            return (.client, "client \(client.id) has acknowledged \(client.ackedThrough) of \(client.settledThrough)")
        }
        // The error is dropped as above.
        guard let stored = try? StoredClient(row: client, keptBytes: kept) else {
            return (.client, "the kept outcomes of client \(client.id) cannot be parsed")
        }
        guard let last = stored.kept.last else { return nil }
        guard last.number <= client.settledThrough, stored.kept.allSatisfy({ $0.seq <= head.seq }) else {
            return (.client, "the kept outcomes of client \(client.id) go beyond what is settled, or beyond the order")
        }
        return nil
    }

    mutating func take(
        _ user: UserID, _ scope: ScopeID, role: String, since: SequenceNumber
    ) -> (Finding.Kind, String)? {
        members += 1
        guard Role(rawValue: role) != nil else {
            return (.member, "user \(user) has an unknown role in scope \(scope)")
        }
        guard since <= head.seq else {
            return (.member, "user \(user) is in scope \(scope) since \(since), and the order ends at \(head.seq)")
        }
        return nil
    }

    mutating func take(
        _ key: RecordKey, at seq: SequenceNumber, rule: String, _ old: [UInt8]?, _ new: [UInt8]?
    ) -> (Finding.Kind, String)? {
        ledger += 1
        let name = "the entry of \(key.collection)/\(key.id) at \(seq)"
        guard seq <= head.seq else { return (.ledger, "\(name) is beyond the order's end, \(head.seq)") }
        // The error is dropped as above.
        guard (try? OverwrittenValue(stored: "", rule: rule, old: old, new: new)) != nil else {
            return (.ledger, "\(name) cannot be parsed")
        }
        return nil
    }

    func end() -> [(Finding.Kind, String)] {
        // The batch that ends at the horizon is kept.
        var found = order.gaps(after: horizon > 0 ? horizon - 1 : 0, through: head.seq).map { gap in
            (Finding.Kind.order, "the numbers \(gap.lowerBound)–\(gap.upperBound) are in no batch")
        }
        if horizon > head.seq {
            found.append((.order, "the horizon is at \(horizon), and the order ends at \(head.seq)"))
        }
        if head.seq > 0, head.nonce == 0 { found.append((.order, "the last batch has no nonce")) }
        let counted = usage ?? BlobUsage()
        if isKnown, counted != blobs {
            found.append(
                (
                    .blob,
                    "its blobs are counted as \(counted.blobs) with \(counted.bytes) bytes, and there are"
                        + " \(blobs.blobs) with \(blobs.bytes)"
                ))
        }
        return found
    }

    func summary(_ name: WorkspaceID) -> WorkspaceSummary {
        WorkspaceSummary(
            workspace: name, head: head, horizon: horizon, batches: batches, digest: digest, tombstones: tombstones,
            clients: clients, members: members, ledger: ledger, blobs: blobs)
    }
}

extension RowValues {
    fileprivate mutating func head() throws(StoreError) -> Head {
        Head(
            seq: try integer(), nonce: UInt64(bitPattern: try integer()), time: try integer(), epoch: try integer())
    }

    fileprivate mutating func record() throws(StoreError) -> StoredRecord {
        StoredRecord(
            key: try key(), scope: try scope(), seq: try integer(), born: try integer(), isDeleted: try integer() != 0,
            author: UserID(try text()), created: try integer(), updated: try integer(), body: try bytes() ?? [])
    }
}
