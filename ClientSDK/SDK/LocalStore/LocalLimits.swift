package import TidemarkModel

/// Bounds of the local database.
package struct LocalLimits: Sendable {
    /// Bounds on records and transactions; the server enforces the same.
    package var model = ModelLimits()
    /// Receipts of committed transactions that are kept for apps that ask late; the oldest go when the database opens.
    package var receiptsKept: Int64 = 10_000
    /// Overwritten values that are kept for the app to look at.
    package var historyEntriesMax: Int64 = 1_000
    /// Milliseconds that they are kept.
    package var historyLifetime: Int64 = 30 * 86_400_000
    /// Milliseconds of the server's time that own transactions are kept after their settlement, at most; less where the server
    /// calls them safe before.
    package var journalLifetime: Int64 = 7 * 86_400_000
    /// Bytes of them that are kept; the oldest go.
    package var journalBytesMax: Int64 = 16 << 20
    /// Bytes of records that are kept which the server lost; the oldest go.
    package var rescueBytesMax: Int64 = 16 << 20
    /// What is kept here of the server's records.
    package var cache = CachePolicy()
    /// Deletions that are remembered, so that a copy can go back as far as the server's database did.
    package var deletionsKept = 2_000
    /// Places in the server's order that are remembered for the same, two at least: one of so many frames, the first frames all.
    package var pastCursorsKept = PastCursors.keptMax
    /// Frames from one place that is remembered to the next.
    package var framesForPastCursor = 8
    /// Milliseconds between two comparisons of the copy with the server.
    package var comparedEvery: Int64 = 86_400_000
    /// Scopes that are listed when a connection begins, about 50 bytes each; of more only digests are sent.
    package var scopesListedMax = 100
    /// Scopes that share a digest: the server lists so many where one of them is another.
    package var scopesInPart = 64
    /// Rows that a page is asked for.
    package var pageRows = 200
    /// Bytes up to which a file is looked through when it is opened: a few hundredths of a second.
    package var checkedBytesMax: Int64 = 16 << 20
    /// Records that a read may have to take place on the caller's thread, a few tenths of a millisecond; more are read on
    /// one of the database's.
    package var recordsReadInPlace = 256
    /// Records that are read to be counted, some milliseconds; more are counted as SQLite does.
    package var countedByReadingMax = 10_000
    /// Records that do not decode and that diagnostics tell of.
    package var undecodableMax = 1_000
    /// Milliseconds that a connection waits for another one's lock on the file.
    package var busyTimeout: Int64 = 5_000
    /// Bytes of a page of a new file: one of ``FirstPage/sizes``.
    package var pageBytes = 1_024
    /// Bytes of pages that each connection keeps in memory. SQLite's own 2,000 KiB are too few of small pages for a list of a
    /// thousand conversations.
    package var cachedBytes = 4_096 << 10
    /// Bytes in the log at which it is copied into the file, as soon as nothing is written: half as many as the file has,
    /// within these bounds. At four times that a commit has to wait for it: less than 4 MB beside a small file.
    package var logCopiedAt = 920 << 10...12 << 20
    /// Bytes of log that opening leaves as they are: to copy a page or two takes as long as all the rest of it.
    package var logBytesLeft = 64 * 1_024
    /// Bytes of the disk that are held for the day on which it is full, so that the log can be copied then.
    package var reserveBytes = 1 << 20
    /// How long nothing is written before it is; at three times as many bytes it is copied all the same.
    package var logRest = Duration.milliseconds(200)
    /// How long nothing is written before the parts of full-text indexes are merged.
    package var searchRest = Duration.milliseconds(200)

    package init() {}
}
