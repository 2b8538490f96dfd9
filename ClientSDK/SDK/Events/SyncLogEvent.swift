public import Foundation
public import TidemarkModel

/// What happened to the synchronisation of a store, one case a kind of event. Field values are in none of them.
///
///     for await event in store.events { report.append("\(event.name) \(event.details)") }
///
/// A new case needs its line in `name`, `message` and `details`; whoever knows of it calls `SyncJournal.note(_:)`.
public enum SyncLogEvent: Hashable, Sendable {
    /// An attempt to get in step began: a connection, or taking in what a new grant brought.
    case started
    /// The copy is in step; how long that took since `started`.
    case succeeded(duration: Duration)
    /// The attempt, or the connection that was in step, ended. The next one is at `retry`, in milliseconds since 1970;
    /// `nil` when only a person can help.
    case failed(reason: SyncFailure, retry: Milliseconds?)
    /// The app asked to be disconnected.
    case stopped
    /// The server has settled so many transactions of this device with success; and what they did, by kind of record.
    case committed(transactions: Int, LoggedWrites)
    /// A record was changed here and elsewhere at the same time.
    case merged(MergeDecision)
    /// Values were overwritten unseen, those of this device or others' by this device, or wait for the app's choice.
    case conflict(ConflictNote)
    /// A transaction was refused for good; it waits among the parked.
    case parked(transaction: UUID, rejection: Rejection, LoggedWrites)
    /// A transaction came to nothing too often, and is kept from being sent: see `FailedTransaction`.
    case withheld(number: Int64, reason: String, LoggedWrites)
    /// Bytes that a record names were refused; they wait among `Blobs.unsent()`.
    case blobRefused(BlobDigest, in: ScopeID, BlobFailure)
    /// The server knows this database's client id from elsewhere; it took another one.
    case forked
    /// The server's database had gone back, as after the restore of a backup: this copy had seen number `from` of the order,
    /// and what stands above `to` is lost there. `to` is `nil` where the server does not tell. Own writes are offered
    /// again; those of others are in `SyncStore.rescued()`.
    case rewound(from: SequenceNumber, to: SequenceNumber?, RewindCounts)
    /// A record is here that a model cannot hold; lists go on without it. `field` is `nil` where the model names none.
    case undecodable(collection: String, record: UUID, model: String, field: String?)
    /// Records that were otherwise here than at the server were found, and are fetched anew.
    case diverged(CopyDifference)
    /// The copy was compared with the server: so many of the server's records.
    case compared(records: Int)
    /// Records were removed to make room; the server has them.
    case evicted(records: Int)
    /// Nothing could be evicted; told once for each reason, and tried again.
    case trimFailed(reason: String)
    /// The oldest of so many waiting transactions is older than `AlertLimits.pendingAge`; told once until it is over.
    case overdue(transactions: Int, age: Duration)
    /// The user has more scopes than a connection holds: it has the newest `held` of them, and `leftOut` older ones are not on
    /// this device. Told once for each number; `Diagnostics.scopesLeftOut` says it at any time.
    case scopesLeftOut(held: Int, leftOut: Int)
    /// Writes of extensions were adopted, and wait to be sent.
    case adopted(transactions: Int)
    /// A file among the writes of extensions cannot be adopted, and was set aside: its name, and why.
    case spoolSetAside(file: String, reason: String)
    /// The folder that is shared with extensions cannot be used now; told once for each reason, and tried again.
    case sharingFailed(reason: String)
    /// A file of the store has another class of data protection than the app asked for; reported once for each opening.
    case protectionFailed(reason: String)
    /// The database cannot be read as it is.
    case corrupted(reason: String)
    /// A damaged database was replaced; so many transactions of its outbox were saved.
    case recovered(transactions: Int)
}
