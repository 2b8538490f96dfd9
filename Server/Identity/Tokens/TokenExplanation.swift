package import TidemarkModel

/// An explanation of one token for the operator: it quotes the token's claims, and what was expected.
///
/// It never contains the signature or anything of a secret. Characters that control a terminal are shown as `\u{1b}`.
package struct TokenExplanation: Sendable {
    /// One line of it.
    package enum Line: Hashable, Sendable {
        /// A name and its value.
        case fact(String, String)
        /// The last line.
        case verdict(String)
    }

    package let outcome: TokenOutcome
    package private(set) var lines: [Line] = []

    /// Makes the same checks as a server, and notes what each finds.
    ///
    /// - Parameters:
    ///   - verifier: a verifier like the server's own; its ``KeyService`` must be running.
    ///   - day: formats a time, in milliseconds since 1970.
    package init(
        of text: String, by verifier: TokenVerifier, now: Milliseconds, day: (Milliseconds) -> String
    ) async {
        let (outcome, _) = await verifier.verify(text)
        self.outcome = outcome
        do throws(TokenRejection) {
            let token = try CompactToken(text)
            fact("algorithm", token.algorithm)
            fact("key", token.keyID.map { "\"\($0)\"" } ?? "none named: every fitting one is tried")
            describeClaims(token.claims, now: now, day: day)
            let place = try verifier.place(of: token)
            describe(verifier.issuers[place], token, verifier.knownKeys(of: place), now: now)
        } catch {
            if error == .issuer {
                let names = verifier.issuers.compactMap(\.issuer).joined(separator: ", ")
                fact("accepted", names.isEmpty ? "no issuer" : names)
            }
        }
        lines.append(.verdict(Self.plain(Self.verdict(outcome))))
    }

    /// Removes control characters: the token's author wrote a part of the text, and must not be able to fake a verdict
    /// by a line break.
    private static func plain(_ text: String) -> String { text.withoutSteering }

    private static func verdict(_ outcome: TokenOutcome) -> String {
        switch outcome {
        case .accepted(let token):
            "accepted: user \"\(token.user)\" in workspace \"\(token.workspace)\""
                + (token.isService ? ", as a service" : "") + (token.isOperator ? ", as an operator" : "")
        case .refused(let rejection): "refused: \(rejection.label): \(rejection.meaning)"
        case .unavailable: "undecided: the issuer's keys cannot be fetched; a server answers 4503 or 503"
        }
    }

    private mutating func fact(_ name: String, _ text: String) { lines.append(.fact(name, Self.plain(text))) }

    private mutating func describeClaims(
        _ claims: Fields, now: Milliseconds, day: (Milliseconds) -> String
    ) {
        for name in ["iss", "sub", "aud", "azp"] {
            if let value = claims[name] { fact(name, value.json) }
        }
        for (name, ahead, past) in [
            ("iat", "is issued", "was issued"), ("nbf", "begins", "began"), ("exp", "ends", "ended"),
        ] {
            guard let value = claims[name] else { continue }
            guard let time = Self.milliseconds(value) else {
                fact(name, "\(value.json), which is not a time")
                continue
            }
            let distance = Self.words(abs(time - now))
            fact(name, time > now ? "\(ahead) in \(distance), \(day(time))" : "\(past) \(distance) ago, \(day(time))")
        }
        let others = claims.entries.map(\.name).filter {
            !["iss", "sub", "aud", "azp", "iat", "nbf", "exp"].contains($0)
        }
        if !others.isEmpty { fact("also has", others.joined(separator: ", ")) }
    }

    private mutating func describe(
        _ issuer: Issuer, _ token: CompactToken, _ known: TokenVerifier.KnownKeys, now: Milliseconds
    ) {
        fact("issuer", issuer.issuer == nil ? "the server's own secret" : issuer.name)
        fact("signed by", issuer.algorithms.map(\.rawValue).sorted().joined(separator: " or "))
        if let source = issuer.keySource {
            let age = known.since.map { "fetched \(Self.words(max(0, now - $0))) ago" } ?? "never fetched"
            fact("keys at", "\(source), \(age)\(known.error.map { "; the last fetch failed: \($0)" } ?? "")")
        }
        let ids = known.keys.map { key in "\(key.id.map { "\"\($0)\"" } ?? "without kid") (\(key.algorithm.rawValue))" }
        fact("known keys", ids.isEmpty ? "none" : ids.joined(separator: ", "))
        for reason in known.skipped { fact("left out", reason) }
        if !issuer.audience.isEmpty {
            let found = issuer.audienceClaim.value(in: token.claims)?.json ?? "absent"
            fact(
                "audience", "\(issuer.audienceClaim) is \(found); accepted: \(issuer.audience.joined(separator: ", "))")
        }
        for test in issuer.required {
            fact("required", "\(test): \(test.holds(in: token.claims) ? "yes" : "no")")
        }
        fact("user", "\(issuer.user): \(issuer.user.name(in: token.claims).map { "\"\($0)\"" } ?? "absent")")
        fact(
            "workspace",
            "\(issuer.workspace): \(issuer.workspace.name(in: token.claims).map { "\"\($0)\"" } ?? "absent")")
        if let test = issuer.service { fact("service", "\(test): \(test.holds(in: token.claims) ? "yes" : "no")") }
        fact(
            "bounds",
            "lives \(Self.words(issuer.lifetimeMax.milliseconds)) at most; clocks may differ by "
                + Self.words(issuer.leeway.milliseconds))
    }

    private static func milliseconds(_ value: FieldValue) -> Milliseconds? {
        let seconds: Double
        switch value {
        case .integer(let number): seconds = Double(number)
        case .double(let number): seconds = number
        default: return nil
        }
        return (0...253_402_300_799).contains(seconds) ? Int64(seconds * 1_000) : nil
    }

    /// Returns a duration in its two largest units.
    private static func words(_ milliseconds: Int64) -> String {
        let units: [(Int64, String)] = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")]
        var left = milliseconds / 1_000
        var parts: [String] = []
        for (size, name) in units where left >= size && parts.count < 2 {
            parts.append("\(left / size) \(name)")
            left %= size
        }
        return parts.isEmpty ? "0 s" : parts.joined(separator: " ")
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 { Int64(self / .milliseconds(1)) }
}

extension TokenRejection {
    /// The meaning for the operator.
    fileprivate var meaning: String {
        switch self {
        case .tooLong: "more than \(CompactToken.bytesMax) bytes"
        case .malformed: "not three base64url parts of a JWT with JSON in them, or a name in it occurs twice"
        case .header: "its header has no alg, a typ or kid that is not accepted, or a member such as crit or jku"
        case .issuer: "its iss is not that of an accepted issuer"
        case .algorithm: "the issuer's tokens must be signed by another algorithm"
        case .key: "the issuer has no such key"
        case .signature: "it was not signed with the issuer's key, or was changed since"
        case .times: "iat or exp is absent, or a time is invalid"
        case .notYetValid: "it is not valid yet: check the clocks"
        case .expired: "it has ended: the app must fetch another"
        case .lifetime: "it lives longer than the issuer's tokens may"
        case .audience: "it is meant for another audience"
        case .required: "a required claim does not have the required value"
        case .user: "it names no user, or one of more than 128 bytes"
        case .workspace: "it names no workspace, or one of more than 128 bytes"
        }
    }
}
