import TidemarkWire

/// Why a store is not in step with its server: a code for the app, words for logs and support.
///
///     if case .error(let failure) = status.activity, failure.code == .unauthenticated { showSignIn() }
///
/// A transport that knows why there is no connection throws one; any other error of a transport counts as `unreachable`,
/// or as `connectionLost` once there was a connection.
public struct SyncFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is the matter; the raw value is stable, for metrics and support.
    public enum Code: String, CaseIterable, Hashable, Sendable {
        /// No way to the server: no network, no such host, nobody listening.
        case unreachable
        /// The connection ended without a word.
        case connectionLost = "connection_lost"
        /// The connection is there, and nothing comes over it any more.
        case serverSilent = "server_silent"
        /// The server is there, and does not answer what it is asked.
        case unanswered
        /// Nobody can be trusted at that address: a certificate, or no TLS at all.
        case tlsFailed = "tls_failed"
        /// What answers at that address is no Tidemark server: a wrong path, a proxy's page.
        case notASyncServer = "not_a_sync_server"
        /// The app's token closure threw.
        case tokenFailed = "token_failed"
        /// The server does not accept the token.
        case unauthenticated
        /// The token does not open this workspace, or was revoked: the user has to sign in again.
        case forbidden
        /// The token is another user's than the store's account: nothing was applied or sent. Give the account's token, or
        /// open a store for the user.
        case otherAccount = "other_account"
        /// The server stores another app's schema: nothing was applied or sent. Connect to the app's own server.
        case otherSchema = "other_schema"
        /// The server does not speak this app's version any more.
        case versionUnsupported = "version_unsupported"
        /// Who runs the server serves only newer versions of the app: ask the user to update. What is written stays here
        /// and is sent after the update; until then the server is asked again every few hours.
        case updateRequired = "update_required"
        /// The same client id is connected elsewhere.
        case connectedElsewhere = "connected_elsewhere"
        /// The server did not know the client id, or knew it from elsewhere; the store took another one.
        case clientReplaced = "client_replaced"
        /// Too many connections or requests.
        case rateLimited = "rate_limited"
        /// The server cannot serve at the moment.
        case unavailable
        /// The server stops, or wants the connection to be made anew.
        case goingAway = "going_away"
        /// The server waited for this client too long.
        case timedOut = "timed_out"
        /// One side does not speak the protocol.
        case protocolViolation = "protocol_violation"
        /// A message was larger than the server takes.
        case tooLarge = "too_large"
        /// Some writes got no answer too often, and are kept from being sent for a while.
        case writesWithheld = "writes_withheld"
        /// The user has more scopes than a connection holds: the oldest are not on this device. All others are in step.
        case scopesLeftOut = "scopes_left_out"
        /// There is no room on the device.
        case diskFull = "disk_full"
        /// The local database failed.
        case databaseFailed = "database_failed"
        /// The copy on the device refused what the server sent, on several connections in a row: nothing new arrives until
        /// that is mended. It is tried again; give the detail to support.
        case cannotApply = "cannot_apply"
    }

    /// What is the matter.
    public let code: Code
    /// For logs and support; may quote the server: one line of at most 200 characters, without markup.
    public let detail: String
    /// With ``Code/updateRequired``: the least version of the app that is served, such as `2.4`; empty where the server does
    /// not tell it.
    public let minimumApp: String?

    public init(_ code: Code, _ detail: String, minimumApp: String? = nil) {
        self.code = code
        self.detail = detail.singleLine(charactersMax: Self.detailCharactersMax)
        self.minimumApp = minimumApp
    }

    /// The handshake was answered by an HTTP status instead of a connection.
    ///
    /// - Parameters:
    ///   - httpStatus: any but 101.
    ///   - detail: words of the answer.
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

    /// Nobody was reached, or nobody is there any more: what a device without a network sees.
    var isOffline: Bool {
        switch code {
        case .unreachable, .connectionLost, .serverSilent: true
        case .unanswered, .tlsFailed, .notASyncServer, .tokenFailed, .unauthenticated, .forbidden, .otherAccount,
            .otherSchema, .versionUnsupported, .updateRequired, .connectedElsewhere, .clientReplaced, .rateLimited,
            .unavailable,
            .goingAway, .timedOut,
            .protocolViolation, .tooLarge, .writesWithheld, .scopesLeftOut, .diskFull, .databaseFailed, .cannotApply:
            false
        }
    }
}

extension SyncFailure {
    /// Whatever a transport threw; what it knows itself stands.
    init(_ error: any Error, otherwise code: Code) { self = error as? SyncFailure ?? SyncFailure(code, "\(error)") }

    /// The end of a connection by a close code; `nil` for one that no server of this protocol gives.
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

    /// The reason begins with the least version that is served and a colon.
    private init(appTooOld reason: String) {
        let parts = reason.split(separator: ":", maxSplits: 1)
        let minimum = parts.count == 2 ? String(parts[0].prefix(Self.versionCharactersMax)) : ""
        self.init(
            .updateRequired,
            "the server serves the app from \(minimum.isEmpty ? "a newer version" : minimum) on: update it; what is written here"
                + " stays and is sent then", minimumApp: minimum)
    }

    private static let versionCharactersMax = 32
}

extension String {
    /// A page's text, without its tags, scripts and styles.
    fileprivate var withoutMarkup: String {
        guard contains("<") else { return self }
        var words = ""
        var rest = self[...]
        while let open = rest.firstIndex(of: "<") {
            words += rest[..<open] + " "
            rest = rest[open...]
            // What is no text ends with its own tag.
            let end = ["script", "style"].first { rest.dropFirst().prefix($0.count).lowercased() == $0 }.map {
                "</\($0)"
            }
            if let end, let found = rest.firstRange(of: end) { rest = rest[found.lowerBound...].dropFirst() }
            guard let close = rest.firstIndex(of: ">") else { return words }
            rest = rest[rest.index(after: close)...]
        }
        return words + rest
    }

    /// One line of text that cannot steer a terminal or a log: what does not print is a space, and spaces are one.
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
