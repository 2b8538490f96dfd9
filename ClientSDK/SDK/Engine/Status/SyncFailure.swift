import TidemarkWire

/// The reason why a store is not in sync with its server: a code for the app, words for logs and support.
///
///     if case .error(let failure) = status.activity, failure.code == .unauthenticated { showSignIn() }
///
/// A transport that knows why there is no connection throws one. Any other error of a transport is treated as
/// `unreachable`, or as `connectionLost` once there was a connection.
public struct SyncFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; the raw value is stable, for metrics and support.
    public enum Code: String, CaseIterable, Hashable, Sendable {
        /// The server cannot be reached: no network, no such host, nothing listening.
        case unreachable
        /// The connection ended without a reason.
        case connectionLost = "connection_lost"
        /// The connection is open, and nothing arrives over it any more.
        case serverSilent = "server_silent"
        /// The server is reachable, and does not answer requests.
        case unanswered
        /// The server at that address cannot be trusted: an invalid certificate, or no TLS at all.
        case tlsFailed = "tls_failed"
        /// The answer from that address is not a Tidemark server's: a wrong path, a proxy's page.
        case notASyncServer = "not_a_sync_server"
        /// The app's token closure threw.
        case tokenFailed = "token_failed"
        /// The server does not accept the token.
        case unauthenticated
        /// The token does not allow this workspace, or was revoked: the user has to sign in again.
        case forbidden
        /// The token belongs to another user than the store's account: nothing was applied or sent. Give the account's
        /// token, or open a store for the user.
        case otherAccount = "other_account"
        /// The server stores another app's schema: nothing was applied or sent. Connect to the app's own server.
        case otherSchema = "other_schema"
        /// The server no longer supports this app's protocol version.
        case versionUnsupported = "version_unsupported"
        /// The operator allows only newer versions of the app: ask the user to update. Writes stay on the device and
        /// are sent after the update; until then the server is asked again every few hours.
        case updateRequired = "update_required"
        /// The same client id is connected elsewhere.
        case connectedElsewhere = "connected_elsewhere"
        /// The server did not know the client id, or knew it from another device; the store took a new one.
        case clientReplaced = "client_replaced"
        /// Too many connections or requests.
        case rateLimited = "rate_limited"
        /// The server cannot serve at the moment.
        case unavailable
        /// The server is stopping, or wants the connection to be opened anew.
        case goingAway = "going_away"
        /// The server waited too long for this client.
        case timedOut = "timed_out"
        /// One side violated the protocol.
        case protocolViolation = "protocol_violation"
        /// A message was larger than the server accepts.
        case tooLarge = "too_large"
        /// Some writes stalled: they got no answer too often, and are sent again later.
        case writesStalled = "writes_withheld"
        /// The user has more scopes than a connection holds: the oldest are not on this device. All others are in sync.
        case scopesLeftOut = "scopes_left_out"
        /// The device has no free disk space.
        case diskFull = "disk_full"
        /// The local database failed.
        case databaseFailed = "database_failed"
        /// The copy on the device refused what the server sent, on several connections in a row: nothing new arrives
        /// until the cause is fixed. The client tries again; give the detail to support.
        case cannotApply = "cannot_apply"
    }

    /// The kind of failure.
    public let code: Code
    /// An explanation for logs and support; may quote the server. One line of at most 200 characters, without markup.
    public let detail: String
    /// With ``Code/updateRequired``: the lowest version of the app that is allowed, such as `2.4`; empty if the server
    /// does not name it.
    public let minimumApp: String?

    public init(_ code: Code, _ detail: String, minimumApp: String? = nil) {
        self.code = code
        self.detail = detail.singleLine(charactersMax: Self.detailCharactersMax)
        self.minimumApp = minimumApp
    }

    /// Creates the failure of a handshake that was answered by an HTTP status instead of a connection.
    ///
    /// - Parameters:
    ///   - httpStatus: any but 101.
    ///   - detail: the text of the answer.
    public init(httpStatus: Int, _ detail: String) {
        switch httpStatus {
        case 401: code = .unauthenticated
        case 403: code = .forbidden
        case 429: code = .rateLimited
        case 408, 500...599: code = .unavailable
        default: code = .notASyncServer
        }
        minimumApp = nil
        let words = detail.withoutMarkup.singleLine(charactersMax: Self.detailCharactersMax)
        self.detail = words.isEmpty ? "HTTP status \(httpStatus)" : "HTTP status \(httpStatus): \(words)"
    }

    private static let detailCharactersMax = 200

    /// The code and the detail.
    public var description: String { "\(code.rawValue): \(detail)" }

    /// True when the server was not reached or the connection broke: the failures of a device without a network.
    var isOffline: Bool {
        switch code {
        case .unreachable, .connectionLost, .serverSilent: true
        case .unanswered, .tlsFailed, .notASyncServer, .tokenFailed, .unauthenticated, .forbidden, .otherAccount,
            .otherSchema, .versionUnsupported, .updateRequired, .connectedElsewhere, .clientReplaced, .rateLimited,
            .unavailable,
            .goingAway, .timedOut,
            .protocolViolation, .tooLarge, .writesStalled, .scopesLeftOut, .diskFull, .databaseFailed, .cannotApply:
            false
        }
    }
}

extension SyncFailure {
    /// Wraps an error that a transport threw; a `SyncFailure` is kept.
    init(_ error: any Error, otherwise code: Code) { self = error as? SyncFailure ?? SyncFailure(code, "\(error)") }

    /// Creates the failure for a close code; `nil` is for a code that no server of this protocol sends.
    init(closed code: CloseCode?, _ reason: String) {
        switch code {
        case .normal, .goingAway: self.init(.goingAway, reason)
        case .tooBig: self.init(.tooLarge, reason)
        case .protocolViolation: self.init(.protocolViolation, reason)
        case .unauthenticated: self.init(.unauthenticated, reason)
        case .workspaceForbidden: self.init(.forbidden, reason)
        case .timeout: self.init(.timedOut, reason)
        case .connectedElsewhere: self.init(.connectedElsewhere, reason)
        case .clientUnknown, .clientForked: self.init(.clientReplaced, reason)
        case .versionUnsupported: self.init(.versionUnsupported, reason)
        case .appTooOld: self.init(appTooOld: reason)
        case .rateLimited: self.init(.rateLimited, reason)
        case .unavailable: self.init(.unavailable, reason)
        case nil: self.init(.connectionLost, reason)
        }
    }

    /// Parses a reason that begins with the lowest allowed version and a colon.
    private init(appTooOld reason: String) {
        let parts = reason.split(separator: ":", maxSplits: 1)
        let minimum = parts.count == 2 ? String(parts[0].prefix(Self.versionCharactersMax)) : ""
        self.init(
            .updateRequired,
            "the server requires \(minimum.isEmpty ? "a newer version" : "version \(minimum)") of the app: update it. "
                + "What is written here is kept, and sent then", minimumApp: minimum)
    }

    private static let versionCharactersMax = 32
}

extension String {
    /// The page's text without its tags, scripts and styles.
    fileprivate var withoutMarkup: String {
        guard contains("<") else { return self }
        var words = ""
        var rest = self[...]
        while let open = rest.firstIndex(of: "<") {
            words += rest[..<open] + " "
            rest = rest[open...]
            // Scripts and styles end with their own tag.
            let end = ["script", "style"].first { rest.dropFirst().prefix($0.count).lowercased() == $0 }.map {
                "</\($0)"
            }
            if let end, let found = rest.firstRange(of: end) { rest = rest[found.lowerBound...].dropFirst() }
            guard let close = rest.firstIndex(of: ">") else { return words }
            rest = rest[rest.index(after: close)...]
        }
        return words + rest
    }

    /// Returns one line of text that cannot control a terminal or a log: unprintable characters become spaces, and runs
    /// of spaces one.
    fileprivate func singleLine(charactersMax: Int) -> String {
        var line = ""
        for scalar in unicodeScalars.prefix(20 * charactersMax) {
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator, .spaceSeparator, .privateUse:
                if line.last != " ", !line.isEmpty { line.append(" ") }
            default: line.unicodeScalars.append(scalar)
            }
        }
        while line.last == " " { line.removeLast() }
        return line.count > charactersMax ? line.prefix(charactersMax - 1) + "…" : line
    }
}
