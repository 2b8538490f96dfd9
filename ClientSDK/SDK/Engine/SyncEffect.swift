package import TidemarkModel
package import TidemarkWire

/// What the engine wants done. The executor carries effects out in order; those marked with an answer report before
/// the next event is looked at.
package enum SyncEffect: Sendable {
    /// Get a token, connect, begin a connection in the database; answers `opened` or `openFailed`, later.
    case open
    /// Close the socket.
    case close(CloseCode)
    case send([UInt8])
    /// Send what is worth nothing later, unless much waits to be sent before it.
    case sendEphemeral([UInt8])
    /// Write the welcome to the database; answers `applied` or `applyFailed`.
    case applyWelcome(Welcome)
    /// Apply frames in one transaction, all or none; answers `applied` or `applyFailed`. A power cut may take it back until
    /// `confirm`.
    case applyChanges([Changes])
    /// Have the disk confirm all that was applied, the outcomes up to this number among it; answers `confirmed` or
    /// `applyFailed`.
    case confirm(settled: Int64)
    /// Apply a page of records with certain ids; answers `applied` or `applyFailed`.
    case applyPage(PageAnswer, to: PageRequest)
    /// Apply pages in one transaction; answers `applied` or `applyFailed`.
    case applyPages([(PageAnswer, to: PageRequest?)])
    /// Keep what the server told of a record's history; answers `applied` or `applyFailed`.
    case applyHistory(HistoryAnswer)
    /// Find out where a record's history is to be asked for; answers `historyLoaded`.
    case loadHistory(RecordKey)
    /// All that the server knows of a record's history is in the database, or it is not asked.
    case historyEnded(RecordKey)
    /// Find out what is to be compared next; one that is asked for begins at once. Answers `comparisonLoaded`.
    case loadComparison(isAsked: Bool)
    /// Compare what the server told with the copy; answers `compared` or `applyFailed`.
    case applyComparison(CompareAnswer, to: CompareRequest)
    /// Leave something out of the comparison; answers `applied` or `applyFailed`.
    case dropComparison(CompareRequest)
    /// Read transactions after the number; answers `pushLoaded`.
    case loadPush(after: Int64, limits: WireLimits)
    /// Read what to fill next, with one collection before all others if there is one; answers `pagesLoaded`.
    case loadPages(count: Int, first: String?)
    /// Take a new client id, keeping everything pending; of a copy, others may send the same.
    case fork(isCopy: Bool)
    /// Keep a transaction from being sent for now; answers `applied` or `applyFailed`.
    case withhold(Int64, reason: String, isAnswered: Bool)
    /// Let all that is withheld be sent again; answers `applied` or `applyFailed`.
    case releaseWithheld
    /// Get a fresh token; answers `tokenRefreshed` or `tokenFailed`, later.
    case refreshToken
    /// Send `tick` at this time.
    case wake(at: Milliseconds)
    /// Tell the app what somebody said.
    case heard(Ephemeral)
    /// Tell the app.
    case status(SyncPhase)
    /// Tell the app that the server wants nothing pushed for a while, or that this is over.
    case pushPaused(PushPause?)
    /// All rounds up to this number are over: done, or given up until the next attempt; the phase tells which.
    case roundEnded(Int64)
    /// The same of the rounds of one collection.
    case collectionRoundEnded(String, round: Int64)
}
