import Foundation
public import Logging

extension SyncLogEvent {
    /// The name of the kind, to filter and to count by.
    public var name: String {
        switch self {
        case .started: "started"
        case .succeeded: "succeeded"
        case .failed: "failed"
        case .stopped: "stopped"
        case .committed: "committed"
        case .merged: "merged"
        case .conflict: "conflict"
        case .rejected: "parked"
        case .stalled: "withheld"
        case .blobRejected: "blob_refused"
        case .forked: "forked"
        case .serverWentBack: "rewound"
        case .undecodable: "undecodable"
        case .diverged: "diverged"
        case .compared: "compared"
        case .evicted: "evicted"
        case .trimFailed: "trim_failed"
        case .overdue: "overdue"
        case .scopesLeftOut: "scopes_left_out"
        case .adopted: "adopted"
        case .spoolFault: "spool_set_aside"
        case .sharingFailed: "sharing_failed"
        case .protectionFailed: "protection_failed"
        case .corrupted: "corrupted"
        case .recovered: "recovered"
        }
    }

    /// The details of the event, by name; as text, so that they fit any log.
    public var details: [String: String] {
        switch self {
        case .started, .stopped, .forked: [:]
        case .succeeded(let duration): ["duration_ms": "\(duration / .milliseconds(1))"]
        case .failed(let reason, let retry):
            ["code": reason.code.rawValue, "reason": reason.detail].merging(retry.map { ["retry": "\($0)"] } ?? [:]) {
                first, _ in first
            }
        case .committed(let count, let writes):
            ["transactions": "\(count)"].merging(writes.details) { first, _ in first }
        case .recovered(let count), .adopted(let count): ["transactions": "\(count)"]
        case .merged(let decision): decision.details
        case .conflict(let note):
            ["record": "\(note.key)", "fields": note.fields.joined(separator: ","), "outcome": note.outcome.rawValue]
        case .rejected(let transaction, let rejection, let writes):
            [
                "transaction": transaction.uuidString.lowercased(), "code": rejection.code.rawValue,
                "reason": rejection.message,
            ].merging(writes.details) { first, _ in first }
        case .blobRejected(let digest, let scope, let failure):
            ["digest": String(digest.text.prefix(12)), "scope": scope.text, "reason": failure.rawValue]
        case .serverWentBack(let from, let to, let counts):
            [
                "from": "\(from)", "to": to.map { "\($0)" } ?? "", "reoffered": "\(counts.resent)",
                "missing": "\(counts.missing)", "rescued": "\(counts.lostRecords)",
            ]
        case .stalled(let number, let reason, let writes):
            ["number": "\(number)", "reason": reason].merging(writes.details) { first, _ in first }
        case .undecodable(let collection, let record, let model, let field):
            ["collection": collection, "record": record.uuidString.lowercased(), "model": model].merging(
                field.map { ["field": $0] } ?? [:]
            ) { first, _ in first }
        case .diverged(let difference):
            [
                "scope": difference.scope, "collection": difference.collection, "missing": "\(difference.missing)",
                "extra": "\(difference.extra)", "outdated": "\(difference.outdated)",
                "changed": "\(difference.changed)",
            ]
        case .evicted(let records), .compared(let records): ["records": "\(records)"]
        case .overdue(let transactions, let age):
            ["transactions": "\(transactions)", "age_ms": "\(Int64(age / .milliseconds(1)))"]
        case .scopesLeftOut(let held, let leftOut): ["held": "\(held)", "left_out": "\(leftOut)"]
        case .spoolFault(let file, let reason): ["file": file, "reason": reason]
        case .corrupted(let reason), .trimFailed(let reason), .sharingFailed(let reason),
            .protectionFailed(let reason):
            ["reason": reason]
        }
    }

    /// The name as `event`, and the details, for a log.
    public var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["event": "\(name)"]
        for (key, value) in details { metadata[key] = "\(value)" }
        return metadata
    }

    /// The sentence of the kind.
    var message: Logger.Message {
        switch self {
        case .started: "sync started"
        case .succeeded: "sync succeeded"
        case .failed: "sync failed"
        case .stopped: "sync stopped"
        case .committed: "writes were committed"
        case .merged: "concurrent changes were merged"
        case .conflict: "a value was overwritten unseen, or waits for a choice"
        case .rejected: "a write was refused"
        case .stalled: "a write without an answer is withheld"
        case .blobRejected: "the server refused the bytes of a record"
        case .forked: "the client id was in use elsewhere"
        case .serverWentBack: "the server's database went back; own writes are offered again"
        case .undecodable: "a record cannot be decoded and is left out of lists"
        case .diverged: "records differed from the server's, and are fetched again"
        case .compared: "the copy was compared with the server"
        case .evicted: "records were evicted"
        case .trimFailed: "evicting old records failed"
        case .overdue: "writes have waited too long for the server's answer"
        case .scopesLeftOut: "the user has more scopes than a connection holds: the oldest are not on this device"
        case .adopted: "writes of extensions were adopted"
        case .spoolFault: "a file among the writes of extensions was set aside"
        case .sharingFailed: "the folder that is shared with extensions cannot be used"
        case .protectionFailed: "a file of the store has another class of data protection"
        case .corrupted: "the local database is damaged"
        case .recovered: "the local database was replaced"
        }
    }

    /// True when the user should look: a write is refused or waits for too long, or data is damaged. For a banner, a
    /// badge, a page.
    public var isAlert: Bool {
        switch self {
        case .rejected, .stalled, .blobRejected, .serverWentBack, .undecodable, .overdue, .corrupted, .spoolFault,
            .scopesLeftOut:
            true
        case .started, .succeeded, .failed, .stopped, .committed, .merged, .conflict, .forked, .diverged, .compared,
            .evicted, .trimFailed, .recovered, .adopted, .sharingFailed, .protectionFailed:
            false
        }
    }

    /// The log level. A library logs nothing above `info`, except failures of the local database itself, and excesses
    /// of the limits that it was given.
    var level: Logger.Level {
        switch self {
        case .corrupted: .error
        case .overdue, .diverged, .scopesLeftOut, .protectionFailed: .warning
        case .started, .succeeded, .failed, .stopped, .committed, .merged, .conflict, .rejected, .stalled,
            .blobRejected,
            .forked, .serverWentBack, .undecodable, .compared, .evicted, .trimFailed, .recovered, .adopted, .spoolFault,
            .sharingFailed:
            .info
        }
    }
}
