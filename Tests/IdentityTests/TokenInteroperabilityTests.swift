import Foundation
import JWTKit
import Testing
import TidemarkModel

@testable import TidemarkIdentity

/// An independent implementation makes tokens for ours, and accepts those that ours makes.
@Suite struct TokenInteroperabilityTests {
    private struct Claims: JWTPayload, Equatable {
        var sub: SubjectClaim
        var ws: String
        var exp: ExpirationClaim
        var iat: IssuedAtClaim

        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }

    private let bytes = [UInt8](0..<64)

    private func dates(_ seconds: Int64) -> Date { Date(timeIntervalSince1970: Double(seconds)) }

    @Test func `jwt-kit and ours accept each other's tokens`() async throws {
        let keys = JWTKeyCollection()
        await keys.add(hmac: HMACKey(from: bytes), digestAlgorithm: .sha256)
        let secret = try #require(TokenSecret(bytes))
        let claims = Claims(
            sub: "ada", ws: "acme", exp: .init(value: dates(start + 600)), iat: .init(value: dates(start)))

        let verified = await verifier([await .own([secret])]).accepted(try await keys.sign(claims))
        #expect(
            verified
                == VerifiedToken(
                    user: UserID("ada"), workspace: WorkspaceID("acme"), isService: false, isOperator: false,
                    issuedAt: start * 1_000,
                    expiresAt: (start + 600) * 1_000, acceptedUntil: (start + 660) * 1_000))

        let ours = try await TokenIssuer(secret: secret) { start * 1_000 }
            .issue(user: "ada", workspace: "acme", lifetime: .seconds(600))
        #expect(try await keys.verify(ours, as: Claims.self) == claims)
    }

    @Test func `jwt-kit's tokens of another hash are rejected`() async throws {
        let keys = JWTKeyCollection()
        await keys.add(hmac: HMACKey(from: bytes), digestAlgorithm: .sha512)
        let secret = try #require(TokenSecret(bytes))
        let token = try await keys.sign(
            Claims(sub: "ada", ws: "acme", exp: .init(value: dates(start + 600)), iat: .init(value: dates(start))))
        #expect(await verifier([await .own([secret])]).label(token) == "algorithm_not_allowed")
    }
}
