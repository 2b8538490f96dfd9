package import TidemarkModel

/// The bounds of the local database.
package struct LocalLimits: Sendable {
    /// The bounds of records and transactions; the server enforces the same.
    package var model = ModelLimits()
    /// The receipts of committed transactions that are kept for apps that ask late; the oldest are deleted when the
    /// database opens.
    package var receiptsKept: Int64 = 10_000
    /// The overwritten values that are kept for the app to look at.
    package var historyEntriesMax: Int64 = 1_000
    /// The milliseconds that they are kept.
    package var historyLifetime: Int64 = 30 * 86_400_000
    /// The longest time, in milliseconds of the server's time, that own transactions are kept after their settlement.
    /// It is shorter if the server reports them as durable before.
    package var journalLifetime: Int64 = 7 * 86_400_000
    /// The largest size of kept transactions, in bytes; the oldest are deleted.
    package var journalBytesMax: Int64 = 16 << 20
    /// The largest size of kept records that the server lost, in bytes; the oldest are deleted.
    package var rescueBytesMax: Int64 = 16 << 20
    /// The part of the server's records that is kept here.
    package var cache = CachePolicy()
    /// The number of deletions that are remembered, so that a copy can go back as far as the server's database did.
    package var deletionsKept = 2_000
    /// The number of past cursors that are kept for the same purpose, at least two. One is noted for several frames, at
    /// first one for each.
    package var pastCursorsKept = PastCursors.keptMax
    /// The number of frames from one past cursor to the next.
    package var framesForPastCursor = 8
    /// The milliseconds between two comparisons of the copy with the server.
    package var comparedEvery: Int64 = 86_400_000
    /// The number of scopes up to which they are listed when a connection begins, about 50 bytes each; for more only
    /// digests are sent.
    package var scopesListedMax = 100
    /// The number of scopes that share a digest: if one of them differs, the server lists so many.
    package var scopesInPart = 64
    /// The number of rows that a page request asks for.
    package var pageRows = 200
    /// The file size in bytes up to which a file is checked when it is opened: a few hundredths of a second.
    package var checkedBytesMax: Int64 = 16 << 20
    /// The number of records up to which a read runs on the caller's thread, a few tenths of a millisecond; more are
    /// read on one of the database's threads.
    package var recordsReadInPlace = 256
    /// The length of an observation's last read up to which its next one runs on the observer's thread.
    static let briefRead = Duration.milliseconds(2)
    /// The number of records up to which they are counted by reading, some milliseconds; more are counted by SQLite.
    package var countedByReadingMax = 10_000
    /// The number of undecodable records that diagnostics list.
    package var undecodableMax = 1_000
    /// The milliseconds that a connection waits for another one's lock on the file.
    package var busyTimeout: Int64 = 5_000
    /// The page size of a new file in bytes: one of ``FirstPage/sizes``.
    package var pageBytes = 1_024
    /// The bytes of pages that each connection keeps in memory. SQLite's own 2,000 KiB hold too few small pages for a
    /// list of a thousand conversations.
    package var cachedBytes = 4_096 << 10
    /// The log's size in bytes at which it is copied into the file, as soon as nothing is written: half the file's
    /// size, within these bounds. At four times that a commit has to wait for it: less than 4 MB beside a small file.
    package var logCopiedAt = 920 << 10...12 << 20
    /// The log's size in bytes up to which opening leaves it: to copy a page or two takes as long as the rest of
    /// opening.
    package var logBytesLeft = 64 * 1_024
    /// The bytes of disk space that are held for a full disk, so that the log can be copied then.
    package var reserveBytes = 1 << 20
    /// The time without a write after which the log is copied; at three times as many bytes it is copied all the same.
    package var logRest = Duration.milliseconds(200)
    /// The time without a write after which the parts of full-text indexes are merged.
    package var searchRest = Duration.milliseconds(200)

    package init() {}
}
