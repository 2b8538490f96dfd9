/// A message that does not follow PROTOCOL.md: the connection ends with close code 4400 (HTTP: 400).
package struct WireError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Codes of `err` messages: nothing was settled, the connection goes on.
package enum ErrorCode: String, Hashable, Sendable, CaseIterable {
    /// Transactions are missing before the pushed ones; go on from `lmid + 1`.
    case gap
    case rateLimited = "rate_limited"
    case overloaded
    case unavailable
    case draining
    /// A page was requested of a scope, grant or collection that the user does not have.
    case forbidden
    case tooLarge = "too_large"
}

/// WebSocket close codes of this protocol.
package enum CloseCode: UInt16, Hashable, Sendable, CaseIterable {
    case normal = 1000
    case goingAway = 1001
    case tooBig = 1009
    case protocolViolation = 4400
    case unauthenticated = 4401
    case workspaceForbidden = 4403
    case timeout = 4408
    case connectedElsewhere = 4409
    case clientUnknown = 4410
    case clientForked = 4411
    case versionUnsupported = 4426
    /// The operator serves only newer versions of the app. The reason begins with the lowest version that is served
    /// and a colon.
    case appTooOld = 4427
    case rateLimited = 4429
    case unavailable = 4503
}
