package import TidemarkModel
package import TidemarkWire

/// An event that the machine reacts to.
package enum SyncEvent: Sendable {
    /// The app wants to be connected.
    case start
    /// The app wants to be disconnected.
    case stop
    /// A deadline that the machine set is due, or something made a look worthwhile.
    case tick
    /// The system reports that the route to the network has changed. May occur at any rate.
    case network(NetworkChange)
    /// The app asks for a round now: an attempt, then all pending writes sent and all new changes taken in. Rounds are
    /// numbered upwards; `roundEnded` names the highest one that it answers.
    case sync(round: Int64)
    /// The app asks for a round of one collection: the same, with the collection's pages first and without waiting for
    /// others. `collectionRoundEnded` answers it. The name is the server's.
    case syncCollection(String, round: Int64)
    /// The socket is open, with the token and the numbers for `hello`.
    case opened(token: String, start: ConnectionStart)
    /// The socket could not be opened.
    case openFailed(SyncFailure)
    /// The socket is closed, and its transport knows the reason.
    case lost(SyncFailure)
    /// The socket is closed; `code` is 1006 when the connection was simply lost.
    case closed(code: UInt16, reason: String)
    /// Whole messages that arrived together, in their order.
    case arrived([[UInt8]])
    /// The app wrote something.
    case wrote
    /// The app has an ephemeral message for the users connected now.
    case say(Ephemeral)
    /// The app watches the presence of these scopes, and of no others.
    case watch(Set<ScopeID>)
    /// Older records are wanted.
    case wantsPages
    /// The answer to `loadPush`, in order of the numbers.
    case pushLoaded([NumberedEntry])
    /// The answer to `loadPages`.
    case pagesLoaded([PageRequest])
    /// The app requests a record's history; without a connection, the next one asks for it.
    case history(RecordKey)
    /// The answer to `loadHistory`; `nil` for a record that is not on the device.
    case historyLoaded(RecordKey, HistoryRequest?)
    /// The app wants the copy to be compared with the server as soon as it is live.
    case compare
    /// The answer to `loadComparison`; `nil` when nothing is to be compared now. `isBehind` is true while the
    /// comparison replaces filling.
    case comparisonLoaded(CompareRequest?, isBehind: Bool)
    /// An answer was compared with the copy, and this many records were wrong.
    case compared(wrong: Int)
    /// A frame, page or welcome is in the database.
    case applied
    /// The disk has confirmed what was applied, including the outcomes up to this number.
    case confirmed(settled: Int64)
    /// The database could not apply it.
    case applyFailed(SyncFailure)
    /// The database found that another installation uses its client id.
    case forkFound(String, isCopy: Bool)
    /// A fresh token.
    case tokenRefreshed(String)
    /// The app's token closure failed.
    case tokenFailed(String)
}

/// A transaction of the outbox with its number.
package struct NumberedEntry: Hashable, Sendable {
    package var number: Int64
    package var entry: Push.Entry
    /// The approximate size on the wire, in bytes.
    package var bytes: Int

    package init(number: Int64, entry: Push.Entry, bytes: Int) {
        self.number = number
        self.entry = entry
        self.bytes = bytes
    }
}

/// A push that is under way, or being settled.
struct SentPush: Hashable, Sendable {
    /// The number of the push's last transaction.
    var last: Int64
    var bytes: Int
}

/// The values of a new connection's `hello`. Reading them makes the connection counter durable.
package struct ConnectionStart: Hashable, Sendable {
    package var client: ClientID
    package var isNewClient: Bool
    package var connection: Int64
    package var cursor: String?
    package var scopes: [HeldScope]
    package var ackedThrough: Int64
    package var owner: StoreOwner
    /// The past cursors, newest first.
    package var ends: [String]
    /// The known role in each of `scopes`, in the same order.
    package var roles: [Role]
    /// Digests of the held scopes, when a list would be too long.
    package var digests: ScopeDigests?
    /// True while the copy's content is still being compared, since it came back from below the horizon.
    package var isBehind: Bool
    /// The number of the last transaction written, counting those without a number yet.
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
