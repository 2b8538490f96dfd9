/// Which of two paths an app's records take while it moves from an older one to the engine: the value of a feature flag.
///
///     let rollout = Rollout(rawValue: flags["sync"] ?? "") ?? .off
///     let page = try await rollout.read(older: { try await api.messages() }, engine: { try await messages.readAll() })
public enum Rollout: String, Codable, Hashable, Sendable, CaseIterable {
    /// The older path alone; the engine need not even be opened.
    case off
    /// The older path counts. The engine runs beside it, gets each write too, and is compared; see `ShadowComparison`.
    case shadow
    /// The engine alone. Going back loses nothing that the server passes on to the older path.
    case on

    /// True when the engine is to be opened and connected.
    public var runsEngine: Bool { self != .off }

    /// Reads from the path that counts.
    public func read<Value>(
        older: () async throws -> Value, engine: () async throws -> Value
    ) async throws -> Value {
        switch self {
        case .off, .shadow: try await older()
        case .on: try await engine()
        }
    }

    /// Writes to the path that counts, and in the shadow to the engine after it. Give both the same record id: a record
    /// that the server then gets on both ways is one.
    ///
    /// - Returns: why the engine did not take the write in the shadow; the app goes on, and counts it.
    /// - Throws: what the path throws that counts; in the shadow the engine is then not asked.
    @discardableResult
    public func write(older: () async throws -> Void, engine: () async throws -> Void) async throws -> (any Error)? {
        switch self {
        case .off: try await older()
        case .on: try await engine()
        case .shadow:
            try await older()
            do { try await engine() } catch { return error }
        }
        return nil
    }
}
