package import TidemarkModel
package import TidemarkStore

/// The content of a workspace at one moment, by which two copies of a database are compared.
package struct WorkspaceSummary: Hashable, Sendable {
    package var workspace: WorkspaceID
    package var head: Head
    package var horizon: SequenceNumber
    package var batches: Int64
    /// The count and digest of the living records.
    package var digest: RecordDigest
    package var tombstones: Int64
    package var clients: Int64
    package var members: Int64
    package var ledger: Int64
    package var blobs: BlobUsage

    /// Each count and digest by its name, for people.
    package var values: [(name: String, value: String)] {
        [
            ("head", "\(head.seq)"), ("nonce", head.nonce.hexadecimal), ("epoch", "\(head.epoch)"),
            ("time", "\(head.time)"), ("horizon", "\(horizon)"), ("batches", "\(batches)"),
            ("records", "\(digest.count)"), ("digest", digest.text), ("tombstones", "\(tombstones)"),
            ("clients", "\(clients)"), ("members", "\(members)"), ("ledger", "\(ledger)"),
            ("blobs", "\(blobs.blobs)"), ("blobBytes", "\(blobs.bytes)"),
        ]
    }
}

/// The result of auditing a database.
package struct AuditReport: Hashable, Sendable {
    /// The workspaces in the order of their names' bytes.
    package var workspaces: [WorkspaceSummary]
    package var findings: Findings

    package init(workspaces: [WorkspaceSummary], findings: Findings) {
        self.workspaces = workspaces
        self.findings = findings
    }
}

extension UInt64 {
    /// 16 lower-case digits.
    var hexadecimal: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
