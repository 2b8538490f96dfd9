public import Foundation
public import TidemarkModel

/// An event of a store's synchronisation, one case for each kind. No case has field values.
///
///     for await event in store.events { report.append("\(event.name) \(event.details)") }
///
/// A new case needs its line in `name`, `message` and `details`; the code that detects it calls `SyncJournal.note(_:)`.
public enum SyncLogEvent: Hashable, Sendable {
    /// An attempt to sync began: a connection, or taking in the records of a new grant.
    case started
    /// The copy is in sync, with the time since `started`.
    case succeeded(duration: Duration)
    /// The attempt, or the connection that was in sync, ended. The next one is at `retry`, in milliseconds since 1970;
    /// `nil` when only the user or the app can help.
    case failed(reason: SyncFailure, retry: Milliseconds?)
    /// The app asked to be disconnected.
    case stopped
    /// The server accepted this many transactions of this device, with a summary of their writes.
    case committed(transactions: Int, LoggedWrites)
    /// A record was changed here and elsewhere at the same time.
    case merged(MergeDecision)
    /// Values were overwritten unseen: this device's by others, or others' by this device. Or they wait for the app's
    /// choice.
    case conflict(ConflictNote)
    /// The server rejected a transaction for good; `Outbox.rejected()` has it.
    case rejected(transaction: UUID, rejection: Rejection, LoggedWrites)
    /// A transaction got no answer too often: see `StalledTransaction`.
    case stalled(number: Int64, reason: String, LoggedWrites)
    /// The server rejected the bytes that a record names; `Blobs.unsent()` lists them.
    case blobRejected(BlobDigest, in: ScopeID, BlobFailure)
    /// The server knows this database's client id from another device; the database took a new one.
    case forked
    /// The server's database had gone back, as after the restore of a backup. This copy had seen number `from` of the
    /// order, and everything above `to` is lost there. `to` is `nil` if the server does not report it. Own writes are
    /// sent again; those of others are in `SyncStore.lostRecords()`.
    case serverWentBack(from: SequenceNumber, to: SequenceNumber?, LossCounts)
    /// A model cannot represent a record; lists omit it. `field` is `nil` if the model names none.
    case undecodable(collection: String, record: UUID, model: String, field: String?)
    /// Records that differed from the server's were found, and are fetched again.
    case diverged(CopyDifference)
    /// The copy was compared with the server, with the number of the server's records.
    case compared(records: Int)
    /// Records were removed to free space; the server has them.
    case evicted(records: Int)
    /// Nothing could be evicted; reported once for each reason, and tried again.
    case trimFailed(reason: String)
    /// The oldest of so many waiting transactions is older than `AlertLimits.pendingAge`; reported once until none is
    /// overdue.
    case overdue(transactions: Int, age: Duration)
    /// The user has more scopes than a connection holds: it has the newest `held` of them, and `leftOut` older ones are
    /// not on this device. Reported once for each number; `Diagnostics.scopesLeftOut` has it at any time.
    case scopesLeftOut(held: Int, leftOut: Int)
    /// Writes of extensions were adopted, and wait to be sent.
    case adopted(transactions: Int)
    /// A file among the writes of extensions cannot be adopted, and was moved aside: its name, and the reason.
    case spoolFault(file: String, reason: String)
    /// The folder that is shared with extensions cannot be used now; reported once for each reason, and tried again.
    case sharingFailed(reason: String)
    /// A file of the store has another class of data protection than the app asked for; reported once for each opening.
    case protectionFailed(reason: String)
    /// The database is damaged and cannot be read.
    case corrupted(reason: String)
    /// A damaged database was replaced; this many transactions of its outbox were saved.
    case recovered(transactions: Int)
}
