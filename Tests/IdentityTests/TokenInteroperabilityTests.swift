import Foundation
import JWTKit
import Testing

@testable import TidemarkIdentity

/// An independent implementation makes tokens for ours, and reads what ours makes.
@Suite struct TokenInteroperabilityTests {
    private struct Claims: JWTPayload, Equatable {
        var sub: SubjectClaim
        var ws: String
        var exp: ExpirationClaim
        var iat: IssuedAtClaim

        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }

    private let bytes = [UInt8](0..<64)
    private let start = 1_767_225_600

    @Test func `jwt-kit and ours accept each other's tokens`() async throws {
        let keys = JWTKeyCollection()
        await keys.add(hmac: HMACKey(from: bytes), digestAlgorithm: .sha256)
        let secret = try #require(TokenSecret(bytes))
        let now = Int64(start) * 1000
        let claims = Claims(
            sub: "ada", ws: "acme", exp: .init(value: Date(timeIntervalSince1970: Double(start + 600))),
            iat: .init(value: Date(timeIntervalSince1970: Double(start))))

        let theirs = try await keys.sign(claims)
        let verified = try TokenVerifier(secret: secret) { now }.verify(theirs)
        #expect(
            verified
                == VerifiedToken(
                    user: "ada", workspace: "acme", isService: false, isOperator: false, expiresAt: now + 600_000,
                    acceptedUntil: now + 660_000))

        let ours = try TokenIssuer(secret: secret) { now }
            .issue(user: "ada", workspace: "acme", lifetime: .seconds(600))
        #expect(try await keys.verify(ours, as: Claims.self) == claims)
    }

    @Test func `jwt-kit's tokens of another hash are rejected`() async throws {
        let keys = JWTKeyCollection()
        await keys.add(hmac: HMACKey(from: bytes), digestAlgorithm: .sha512)
        let secret = try #require(TokenSecret(bytes))
        let now = Int64(start) * 1000
        let date = Date(timeIntervalSince1970: Double(start))
        let token = try await keys.sign(
            Claims(sub: "ada", ws: "acme", exp: .init(value: date + 600), iat: .init(value: date)))
        #expect(throws: TokenRejection.algorithm) { try TokenVerifier(secret: secret) { now }.verify(token) }
    }
}
