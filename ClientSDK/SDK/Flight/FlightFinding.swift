package import TidemarkModel

/// An observation in a recorded course that helps to find a fault.
package struct FlightFinding: Hashable, Sendable {
    /// The subject of the finding.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The replayed machine behaves differently from the recorded one: another version, or an influence that was
        /// not recorded.
        case difference
        /// An invariant is broken.
        case invariant
        /// The copy on the device is older than before: a file that was put back, or writes that a power cut undid.
        case wentBack = "went back"
        /// The server does not accept the token, or there is none.
        case token
        /// The server is not this store's: it has another user, another app, or another version.
        case refused
        /// The local database failed.
        case database
        /// The device has no free disk space.
        case diskFull = "disk full"
        /// Nothing arrived over an open connection.
        case silence
        /// The server cannot be reached, or a connection was lost.
        case network
        /// The server closed the connection, or asked to wait.
        case server
        /// A connection ended before the answer to writes arrived.
        case lostAnswer = "lost answer"
        /// Writes are withheld.
        case withheld
        /// The server's database went back.
        case rewind
        /// The client took another id.
        case fork
        /// The device's date was changed.
        case clock
        /// Entries are missing.
        case gap
        /// The recording ends while an effect is being carried out.
        case end
    }

    package let kind: Kind
    /// The first entry of the finding.
    package let entry: Int
    /// The time in milliseconds since the engine began.
    package let time: Milliseconds
    /// The last entry and time at which it was observed.
    package internal(set) var lastEntry: Int
    package internal(set) var lastTime: Milliseconds
    /// The number of times in a row, without progress in between.
    package internal(set) var count = 1
    /// The event, in a sentence for the reader.
    package internal(set) var words: String
    /// Notes on the part that is the same, or changes, from one time to the next.
    package internal(set) var notes: [String] = []
    /// True if it still holds at the end of the recording: nothing continues until the cause is fixed.
    package internal(set) var isStanding = false

    init(_ kind: Kind, _ words: String, at step: (entry: Int, time: Milliseconds)) {
        (self.kind, self.words) = (kind, words)
        (entry, time) = step
        (lastEntry, lastTime) = step
    }

    /// Returns the kind of a failure.
    static func kind(of failure: SyncFailure) -> Kind {
        switch failure.code {
        case .unauthenticated, .tokenFailed: .token
        case .forbidden, .otherAccount, .otherSchema, .versionUnsupported, .updateRequired: .refused
        case .databaseFailed, .cannotApply: .database
        case .diskFull: .diskFull
        case .serverSilent, .unanswered: .silence
        case .unreachable, .connectionLost, .tlsFailed, .notASyncServer: .network
        case .connectedElsewhere, .clientReplaced, .rateLimited, .unavailable, .goingAway, .timedOut,
            .protocolViolation, .tooLarge, .writesStalled, .scopesLeftOut:
            .server
        }
    }
}
