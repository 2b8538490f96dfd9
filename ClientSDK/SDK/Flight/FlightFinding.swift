package import TidemarkModel

/// Something of a recorded course that whoever looks for a fault wants to see.
package struct FlightFinding: Hashable, Sendable {
    /// The subject of the finding.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The replayed machine does otherwise than the recorded one: another version, or what was not recorded.
        case difference
        /// An invariant is broken.
        case invariant
        /// The copy on the device is older than it was: a file that was put back, or writes that a power cut took.
        case wentBack = "went back"
        /// The server does not take the token, or there is none.
        case token
        /// The server is none for this store: another user's, another app's, another version's.
        case refused
        /// The local database failed.
        case database
        /// The device has no room.
        case diskFull = "disk full"
        /// Nothing came over a connection that was open.
        case silence
        /// No way to the server, or a connection that was lost.
        case network
        /// The server closed the connection, or asked to wait.
        case server
        /// A connection ended before the answer to writes came.
        case lostAnswer = "lost answer"
        /// Writes are kept from being sent.
        case withheld
        /// The server's database went back.
        case rewind
        /// The client took another id.
        case fork
        /// The device's date was set.
        case clock
        /// Entries are missing.
        case gap
        /// The recording ends while something is carried out.
        case end
    }

    package let kind: Kind
    /// The entry that it begins with.
    package let entry: Int
    /// When, in milliseconds since the engine began.
    package let time: Milliseconds
    /// The last entry that it was seen at, and when.
    package internal(set) var lastEntry: Int
    package internal(set) var lastTime: Milliseconds
    /// Times in a row, with no step forward in between.
    package internal(set) var count = 1
    /// The event, in words for a person.
    package internal(set) var words: String
    /// The part that is the same, or changes, from one time to the next.
    package internal(set) var notes: [String] = []
    /// It is so at the end of the recording: nothing goes on until this is mended.
    package internal(set) var isStanding = false

    init(_ kind: Kind, _ words: String, at step: (entry: Int, time: Milliseconds)) {
        (self.kind, self.words) = (kind, words)
        (entry, time) = step
        (lastEntry, lastTime) = step
    }

    /// The kind of a failure.
    static func kind(of failure: SyncFailure) -> Kind {
        switch failure.code {
        case .unauthenticated, .tokenFailed: .token
        case .forbidden, .otherAccount, .otherSchema, .versionUnsupported, .updateRequired: .refused
        case .databaseFailed, .cannotApply: .database
        case .diskFull: .diskFull
        case .serverSilent, .unanswered: .silence
        case .unreachable, .connectionLost, .tlsFailed, .notASyncServer: .network
        case .connectedElsewhere, .clientReplaced, .rateLimited, .unavailable, .goingAway, .timedOut,
            .protocolViolation, .tooLarge, .writesWithheld, .scopesLeftOut:
            .server
        }
    }
}
