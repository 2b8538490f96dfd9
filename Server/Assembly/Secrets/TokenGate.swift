import Logging
import TidemarkHub
package import TidemarkIdentity
import TidemarkModel
import TidemarkTelemetry

/// Judges tokens for a node. Each refusal is a line in the log and a count by label; no part of a token is logged.
struct TokenGate: Sendable {
    let verifier: TokenVerifier
    let counts: RefusalCounts
    let telemetry: Telemetry

    /// Returns the identity that a token gives, or the refusal.
    ///
    /// - Parameter peer: the address that it came from, for the log.
    func verdict(on token: String, of peer: String?) async -> TokenVerdict {
        let (outcome, issuer) = await verifier.verify(token)
        switch outcome {
        case .accepted(let verified): return .accepted(Identity(verified))
        case .refused(let rejection):
            note(rejection.label, issuer, peer)
            return .refused(rejection.description)
        case .unavailable:
            note(RefusalCounts.unavailable, issuer, peer)
            return .unavailable
        }
    }

    private func note(_ label: String, _ issuer: String?, _ peer: String?) {
        counts.note(label)
        telemetry.metrics.tokensRefused.count(label)
        telemetry.security.note(.token, label, peer: peer, issuer.map { ["issuer": "\($0)"] } ?? [:])
    }
}

extension Identity {
    init(_ verified: VerifiedToken) {
        self.init(
            principal: Principal(user: verified.user, isService: verified.isService), workspace: verified.workspace,
            expires: verified.expiresAt, acceptedUntil: verified.acceptedUntil, isOperator: verified.isOperator,
            issuedAt: verified.issuedAt)
    }
}

extension ServerConfiguration {
    /// The issuers whose tokens are accepted: those of the file, then this server's accounts, then the server's own
    /// secret.
    ///
    /// - Throws: for invalid keys, with the line of the file.
    package func acceptedIssuers() async throws(ConfigurationError) -> [Issuer] {
        try await Self.accepted(issuers, issuersPath, try await accountKeys(), secret)
    }

    /// The keys of the server's accounts; `nil` without accounts.
    func accountKeys() async throws(ConfigurationError) -> AccountKeys? {
        try await accounts?.keys(lifetime: .seconds(limits.accounts.tokenSeconds))
    }

    /// The same, from settings that need not suffice for a server.
    ///
    /// - Parameter developmentData: the data folder of a server in development mode; if `nil`, that of the database.
    package static func acceptedIssuers(
        environment: [String: String], overrides: [Setting: String], developmentData: String? = nil
    ) async throws(ConfigurationError) -> [Issuer] {
        let values = try SettingValues(environment: environment, overrides: overrides)
        var development: DevelopmentSecret?
        if try values.flag(.development), values[.secretFile] == nil, values[.secret] == nil {
            let database = try DatabaseLocation(values[.database] ?? DatabaseLocation.usual)
            development = try DevelopmentSecret(kept: .tokens, in: developmentData ?? database.dataFolder)
        }
        let secret = try values.secret(development)
        let lifetime = Duration.seconds(AccountLimits().tokenSeconds)
        return try await accepted(
            try values.issuers(), values[.issuers], try await values.accounts(secret)?.keys(lifetime: lifetime), secret)
    }

    private static func accepted(
        _ file: IssuerFile?, _ path: String?, _ accounts: AccountKeys?, _ secret: ServerSecret?
    ) async throws(ConfigurationError) -> [Issuer] {
        var accepted: [Issuer] = []
        if let file {
            do throws(IssuerFileError) {
                accepted = try await file.issuers()
            } catch {
                throw ConfigurationError(.issuers, "\(path ?? ""), \(error)")
            }
        }
        if let accounts { accepted.append(accounts.issuer) }
        if let secret { accepted.append(await .own([secret.tokens] + secret.previousTokens)) }
        return accepted
    }
}
