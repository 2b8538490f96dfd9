package import TidemarkModel
package import TidemarkWire

/// An instruction of the machine to its executor, which carries effects out in order. Those with an answer report it
/// before the executor takes the next event.
package enum SyncEffect: Sendable {
    /// Get a token, connect, begin a connection in the database. Answers later with `opened` or `openFailed`.
    case open
    /// Close the socket.
    case close(CloseCode)
    case send([UInt8])
    /// Send an ephemeral message, unless many messages wait before it.
    case sendEphemeral([UInt8])
    /// Write the welcome to the database; answers `applied` or `applyFailed`.
    case applyWelcome(Welcome)
    /// Apply frames in one transaction, all or none; answers `applied` or `applyFailed`. Until `confirm`, a power cut
    /// may undo it.
    case applyChanges([Changes])
    /// Have the disk confirm everything that was applied, including the outcomes up to this number; answers `confirmed`
    /// or `applyFailed`.
    case confirm(settled: Int64)
    /// Apply a page of records with certain ids; answers `applied` or `applyFailed`.
    case applyPage(PageAnswer, to: PageRequest)
    /// Apply pages in one transaction; answers `applied` or `applyFailed`.
    case applyPages([(PageAnswer, to: PageRequest?)])
    /// Store the server's answer on a record's history; answers `applied` or `applyFailed`.
    case applyHistory(HistoryAnswer)
    /// Find out the scope in which to ask for a record's history; answers `historyLoaded`.
    case loadHistory(RecordKey)
    /// Report that the record's whole history known to the server is in the database, or that the server is not asked.
    case historyEnded(RecordKey)
    /// Find out what is to be compared next; a requested comparison begins at once. Answers `comparisonLoaded`.
    case loadComparison(isAsked: Bool)
    /// Compare the server's answer with the copy; answers `compared` or `applyFailed`.
    case applyComparison(CompareAnswer, to: CompareRequest)
    /// Leave a range out of the comparison; answers `applied` or `applyFailed`.
    case dropComparison(CompareRequest)
    /// Read transactions after the number; answers `pushLoaded`.
    case loadPush(after: Int64, limits: WireLimits)
    /// Read which pages to fetch next, those of one collection first if there is one; answers `pagesLoaded`.
    case loadPages(count: Int, first: String?)
    /// Take a new client id and keep everything pending. With `isCopy`, another device may send the same writes.
    case fork(isCopy: Bool)
    /// Keep a transaction from being sent for now; answers `applied` or `applyFailed`.
    case withhold(Int64, reason: String, isAnswered: Bool)
    /// Release all withheld transactions, so that they are sent again; answers `applied` or `applyFailed`.
    case releaseWithheld
    /// Get a fresh token. Answers later with `tokenRefreshed` or `tokenFailed`.
    case refreshToken
    /// Send `tick` at this time.
    case wake(at: Milliseconds)
    /// Pass an ephemeral message to the app.
    case heard(Ephemeral)
    /// Report the phase to the app.
    case status(ConnectionState)
    /// Report to the app that the server wants nothing pushed for a while, or with `nil` that the pause has ended.
    case pushPaused(PushPause?)
    /// Report that all rounds up to this number have ended: done, or given up until the next attempt. The phase says
    /// which.
    case roundEnded(Int64)
    /// Report the same for the rounds of one collection.
    case collectionRoundEnded(String, round: Int64)
}
