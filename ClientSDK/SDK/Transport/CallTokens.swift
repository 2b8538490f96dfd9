import TidemarkLock

/// The token of the engine's last connection, for HTTP calls beside it. A new one is requested only when the server
/// refuses it.
final class CallTokens: Sendable {
    private let source: @Sendable () async throws -> String
    private let last = Lock<String?>(nil)

    /// - Parameter source: the app's token closure.
    init(_ source: @escaping @Sendable () async throws -> String) { self.source = source }

    /// Returns a token from the app, and remembers it.
    func fresh() async throws -> String {
        let token = try await source()
        last.withLock { $0 = token }
        return token
    }

    /// Returns the last token, or the first one from the app.
    func current() async throws -> String {
        if let token = last.withLock({ $0 }) { return token }
        return try await fresh()
    }

    /// Returns another token than the refused one. Calls that are refused at the same time may share one from the app.
    func another(than refused: String) async throws -> String {
        if let token = last.withLock({ $0 }), token != refused { return token }
        return try await fresh()
    }
}
