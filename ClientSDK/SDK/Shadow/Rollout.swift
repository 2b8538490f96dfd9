/// The path of an app's records while it moves from an older sync to the engine: the value of a feature flag.
///
///     let rollout = Rollout(rawValue: flags["sync"] ?? "") ?? .off
///     let page = try await rollout.read(older: { try await api.messages() }, engine: { try await messages.readAll() })
public enum Rollout: String, Codable, Hashable, Sendable, CaseIterable {
    /// The older path alone; the engine need not even be opened.
    case off
    /// The older path decides. The engine runs beside it, gets each write too, and is compared; see `ShadowComparison`.
    case shadow
    /// The engine alone. Going back loses nothing that the server passes on to the older path.
    case on

    /// True when the engine should be opened and connected.
    public var runsEngine: Bool { self != .off }

    /// Reads from the path that decides.
    public func read<Value>(
        older: () async throws -> Value, engine: () async throws -> Value
    ) async throws -> Value {
        switch self {
        case .off, .shadow: try await older()
        case .on: try await engine()
        }
    }

    /// Writes to the path that decides, and with `shadow` to the engine after it. Give both the same record id: then
    /// the server gets one record on both paths.
    ///
    /// - Returns: the engine's error with `shadow`; the app continues, and counts it.
    /// - Throws: the error of the path that decides; with `shadow` the engine is not asked then.
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
