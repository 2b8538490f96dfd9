package import TidemarkModel
package import TidemarkWire

/// What happens to the engine.
package enum SyncEvent: Sendable {
    /// The app wants to be connected.
    case start
    /// The app wants to be disconnected.
    case stop
    /// A deadline that the machine asked for has come, or something made it worth looking.
    case tick
    /// The network came back: no need to wait for the next attempt's time. May come as often as it likes.
    case hurry
    /// The system says that the way to the network has changed. May come as often as it likes.
    case network(NetworkChange)
    /// The app asks for a round now: an attempt, all that is pending sent, all that is new taken in. Rounds are numbered
    /// upwards; `roundEnded` names the highest one that it answers.
    case sync(round: Int64)
    /// The app asks for a round of one collection: the same, with the collection's pages before any others and without
    /// waiting for those. `collectionRoundEnded` answers it. The name is the server's.
    case syncCollection(String, round: Int64)
    /// The socket is open, with the token and the numbers for `hello`.
    case opened(token: String, start: ConnectionStart)
    /// The socket could not be opened.
    case openFailed(SyncFailure)
    /// The socket is gone, and its transport knows why.
    case lost(SyncFailure)
    /// The socket is gone; `code` is 1006 when it was simply lost.
    case closed(code: UInt16, reason: String)
    /// One whole message.
    case received([UInt8])
    /// Whole messages that waited together, in their order.
    case arrived([[UInt8]])
    /// The app wrote something.
    case wrote
    /// The app has something to say to those who are connected now.
    case say(Ephemeral)
    /// The app watches the presence of these scopes, and of no others.
    case watch(Set<ScopeID>)
    /// Older records are wanted.
    case wantsPages
    /// The answer to `loadPush`, in order of the numbers.
    case pushLoaded([NumberedEntry])
    /// The answer to `loadPages`.
    case pagesLoaded([PageRequest])
    /// The app wants to know a record's history; asked for with the next connection when there is none.
    case history(RecordKey)
    /// The answer to `loadHistory`; `nil` for a record that is not held.
    case historyLoaded(RecordKey, HistoryRequest?)
    /// The app wants the copy to be compared with the server; as soon as it is live.
    case compare
    /// The answer to `loadComparison`; `nil` when nothing is to be compared now. `isBehind` while the comparison stands in for
    /// filling.
    case comparisonLoaded(CompareRequest?, isBehind: Bool)
    /// An answer was compared with the copy, in which so many records were wrong.
    case compared(wrong: Int)
    /// A frame, page or welcome is in the database.
    case applied
    /// The disk has confirmed what was applied, the outcomes up to this number among it.
    case confirmed(settled: Int64)
    /// The database could not take it.
    case applyFailed(SyncFailure)
    /// The database found that another installation uses its client id.
    case forkFound(String, isCopy: Bool)
    /// A fresh token.
    case tokenRefreshed(String)
    /// No token was to be had.
    case tokenFailed(String)
}

/// A transaction of the outbox with its number.
package struct NumberedEntry: Hashable, Sendable {
    package var number: Int64
    package var entry: Push.Entry
    /// Bytes on the wire, about.
    package var bytes: Int

    package init(number: Int64, entry: Push.Entry, bytes: Int) {
        self.number = number
        self.entry = entry
        self.bytes = bytes
    }
}

/// A push that is on its way, or being settled.
struct SentPush: Hashable, Sendable {
    /// Its last number.
    var last: Int64
    var bytes: Int
}

/// What a new connection says of itself; reading it makes its counter durable.
package struct ConnectionStart: Hashable, Sendable {
    package var client: ClientID
    package var isNewClient: Bool
    package var connection: Int64
    package var cursor: String?
    package var scopes: [HeldScope]
    package var ackedThrough: Int64
    package var owner: StoreOwner
    /// Past cursors, newest first.
    package var ends: [String]
    /// The role that is known in each of `scopes`, in their order.
    package var roles: [Role]
    /// Digests of what is held, where that is too much to be listed to a server that knows them.
    package var digests: ScopeDigests?
    /// What the copy holds is still being compared, since it came back from below the horizon.
    package var isBehind: Bool
    /// The number of the last transaction that was written, those counted that have none yet.
    package var written: Int64?

    package init(
        client: ClientID, isNewClient: Bool, connection: Int64, cursor: String?, scopes: [HeldScope],
        ackedThrough: Int64, owner: StoreOwner, ends: [String] = [], roles: [Role] = [],
        digests: ScopeDigests? = nil, isBehind: Bool = false, written: Int64? = nil
    ) {
        self.digests = digests
        self.written = written
        self.roles = roles
        self.isBehind = isBehind
        self.ends = ends
        self.owner = owner
        self.client = client
        self.isNewClient = isNewClient
        self.connection = connection
        self.cursor = cursor
        self.scopes = scopes
        self.ackedThrough = ackedThrough
    }
}
