import TidemarkLock

/// The token of the engine's last connection, for the calls beside it: asked for anew only when the server refuses it.
final class CallTokens: Sendable {
    private let source: @Sendable () async throws -> String
    private let last = Lock<String?>(nil)

    /// - Parameter source: the app's.
    init(_ source: @escaping @Sendable () async throws -> String) { self.source = source }

    /// A token from the app; remembered.
    func fresh() async throws -> String {
        let token = try await source()
        last.withLock { $0 = token }
        return token
    }

    /// The last one, or the first.
    func current() async throws -> String {
        if let token = last.withLock({ $0 }) { return token }
        return try await fresh()
    }

    /// Another one than was refused; several calls that were refused at the same time may ask the app only once.
    func another(than refused: String) async throws -> String {
        if let token = last.withLock({ $0 }), token != refused { return token }
        return try await fresh()
    }
}
