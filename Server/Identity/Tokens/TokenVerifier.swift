package import TidemarkModel

/// The contents of an accepted token.
package struct VerifiedToken: Sendable, Hashable {
    package var user: UserID
    /// The only workspace that this token opens.
    package var workspace: WorkspaceID
    /// Whether the token is for a program of the operator, rather than a user's device.
    package var isService: Bool
    /// Whether the token is for the operator's own calls, which concern the whole server.
    package var isOperator: Bool
    /// `iat` in milliseconds since 1970.
    package var issuedAt: Milliseconds
    /// `exp` in milliseconds since 1970.
    package var expiresAt: Milliseconds
    /// The time after which it is accepted nowhere: `exp` and the tolerance for clocks. An open socket is closed then.
    package var acceptedUntil: Milliseconds
}

/// The result of the check of a token.
package enum TokenOutcome: Sendable, Hashable {
    case accepted(VerifiedToken)
    case refused(TokenRejection)
    /// Its keys cannot be fetched now; try again in so many milliseconds.
    case unavailable(Int64)
}

/// Checks tokens of the configured issuers. Any thread; may wait for a fetch of keys that began after the token
/// arrived.
///
/// The order makes each step as cheap as possible: form, issuer, algorithm, times, key, signature, then all claims. The
/// author of a forged token learns nothing from the first steps that they did not write themselves.
package struct TokenVerifier: Sendable {
    package let issuers: [Issuer]
    private let keys: KeyService
    private let now: @Sendable () -> Milliseconds

    /// - Parameters:
    ///   - keys: the service for the same issuers.
    ///   - now: milliseconds since 1970.
    package init(_ issuers: [Issuer], keys: KeyService, now: @escaping @Sendable () -> Milliseconds) {
        self.issuers = issuers
        self.keys = keys
        self.now = now
    }

    /// Accepts a token, or refuses it with a reason, or reports that it cannot be judged now.
    ///
    /// - Returns: the issuer's name as well, if the token's `iss` is that of a configured issuer.
    package func verify(_ text: String) async -> (outcome: TokenOutcome, issuer: String?) {
        let (token, index): (CompactToken, Int)
        do throws(TokenRejection) {
            token = try CompactToken(text)
            index = try place(of: token)
        } catch {
            return (.refused(error), nil)
        }
        let issuer = issuers[index]
        do throws(TokenRejection) {
            let algorithm = try issuer.algorithm(of: token)
            _ = try issuer.times(in: token.claims, now: now())
            if let delay = try await check(token, algorithm, issuer, index) {
                return (.unavailable(delay), issuer.name)
            }
            return (.accepted(try issuer.read(token.claims, now: now())), issuer.name)
        } catch {
            return (.refused(error), issuer.name)
        }
    }

    /// The keys of an issuer, for people.
    struct KnownKeys {
        var keys: [VerificationKey]
        var skipped: [String]
        /// The time of the last good fetch; `nil` for never.
        var since: Milliseconds?
        var error: KeyFetchError?
    }

    func knownKeys(of index: Int) -> KnownKeys {
        let (given, fetched, state) = (issuers[index].keys, keys.keys(of: index), keys.state(of: index))
        return KnownKeys(
            keys: given.keys + (fetched?.keys ?? []), skipped: given.skipped + (fetched?.skipped ?? []),
            since: state.since, error: state.error)
    }

    /// Returns the index of the issuer that a token claims to be of; the server's own secret if no issuer has that
    /// name. If the token is not signed by a secret, it is another issuer's, and the name is at fault.
    func place(of token: CompactToken) throws(TokenRejection) -> Int {
        if let name = token.issuer,
            let named = issuers.firstIndex(where: { $0.issuer?.hasSameBytes(as: name) == true })
        {
            return named
        }
        guard let own = issuers.firstIndex(where: { $0.issuer == nil }),
            issuers.count == 1 || token.issuer == nil || TokenAlgorithm(header: token.algorithm) == .hs256
        else { throw .issuer }
        return own
    }

    /// - Returns: `nil` when one of the issuer's keys has signed it; else the milliseconds until that can be known.
    private func check(
        _ token: CompactToken, _ algorithm: TokenAlgorithm, _ issuer: Issuer, _ index: Int
    ) async throws(TokenRejection) -> Int64? {
        let given = issuer.keys.candidates(for: token, algorithm)
        if given.contains(where: { $0.accepts(token) }) { return nil }
        guard issuer.keySource != nil else { throw given.isEmpty ? .key : .signature }
        var since: Int?
        while true {
            let found = keys.keys(of: index)
            let candidates = found?.candidates(for: token, algorithm) ?? []
            if candidates.contains(where: { $0.accepts(token) }) { return nil }
            let lack: KeyCache.Lack =
                found == nil ? .noKeys : candidates.isEmpty ? .unknownKey(token.keyID) : .badSignature
            switch await keys.ask(lack, of: index, since: since) {
            case .wait(let asked, _): since = asked
            case .refuse: throw candidates.isEmpty ? .key : .signature
            case .unavailable(let delay): return delay
            }
        }
    }
}

extension Issuer {
    func algorithm(of token: CompactToken) throws(TokenRejection) -> TokenAlgorithm {
        guard let algorithm = TokenAlgorithm(header: token.algorithm), algorithms.contains(algorithm) else {
            throw .algorithm
        }
        return algorithm
    }

    /// Returns `iat` and `exp` in seconds, if the token is valid at this time.
    func times(in claims: Fields, now: Milliseconds) throws(TokenRejection) -> (issued: Double, expires: Double) {
        guard let issued = try Self.time("iat", in: claims), let expires = try Self.time("exp", in: claims) else {
            throw .times
        }
        let (now, skew) = (Double(now) / 1_000, leeway / .seconds(1))
        guard issued <= now + skew else { throw .notYetValid }
        for name in ["nbf"] + pastTimes {
            guard try Self.time(name, in: claims) ?? 0 <= now + skew else { throw .notYetValid }
        }
        guard expires > now - skew else { throw .expired }
        let lifetime = expires - issued
        guard lifetime > 0, lifetime <= lifetimeMax / .seconds(1) else { throw .lifetime }
        return (issued, expires)
    }

    /// Reads the claims of a token whose signature is valid.
    func read(_ claims: Fields, now: Milliseconds) throws(TokenRejection) -> VerifiedToken {
        let times = try times(in: claims, now: now)
        guard audience.isEmpty || isAudience(audienceClaim.value(in: claims)) else { throw .audience }
        guard required.allSatisfy({ $0.holds(in: claims) }) else { throw .required }
        guard let user = user.name(in: claims).flatMap(UserID.init(checking:)) else { throw .user }
        guard let workspace = workspace.name(in: claims).flatMap(WorkspaceID.init(checking:)) else {
            throw .workspace
        }
        return VerifiedToken(
            user: user, workspace: workspace, isService: service?.holds(in: claims) ?? false,
            isOperator: operators?.holds(in: claims) ?? false, issuedAt: Int64((times.issued * 1_000).rounded()),
            expiresAt: Int64(times.expires * 1_000),
            acceptedUntil: Int64((times.expires + leeway / .seconds(1)) * 1_000))
    }

    /// JWT allows one name, or a list of them.
    private func isAudience(_ value: FieldValue?) -> Bool {
        switch value {
        case .string(let name)?: audience.contains { $0.hasSameBytes(as: name) }
        case .array(let names)?:
            names.contains { name in
                if case .string = name { isAudience(name) } else { false }
            }
        default: false
        }
    }

    /// Returns seconds since 1970, up to the year 9999, so that later computations cannot overflow. `nil` when it is
    /// absent.
    private static func time(_ name: String, in claims: Fields) throws(TokenRejection) -> Double? {
        let seconds: Double
        switch claims[name] {
        case nil: return nil
        case .integer(let value)?: seconds = Double(value)
        case .double(let value)?: seconds = value
        default: throw .times
        }
        guard seconds.isFinite, (0...253_402_300_799).contains(seconds) else { throw .times }
        return seconds
    }
}
