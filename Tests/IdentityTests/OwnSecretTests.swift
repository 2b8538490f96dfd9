import Testing
import TidemarkModel

@testable import TidemarkIdentity

/// Tokens of the server's own secret, for an installation without issuers.
@Suite struct OwnSecretTests {
    private let bytes = [UInt8](repeating: 7, count: 32)
    private let secret: TokenSecret
    private let own: TokenVerifier

    init() async throws {
        secret = try #require(TokenSecret(bytes))
        own = verifier([await .own([secret])])
    }

    @Test func `an issued token is accepted with its claims`() async throws {
        let issuer = await TokenIssuer(secret: secret) { start * 1_000 }
        let token = try issuer.issue(user: "ann", workspace: "acme", lifetime: .seconds(600))
        #expect(
            await own.accepted(token)
                == VerifiedToken(
                    user: UserID("ann"), workspace: WorkspaceID("acme"), isService: false, isOperator: false,
                    issuedAt: start * 1_000,
                    expiresAt: (start + 600) * 1_000, acceptedUntil: (start + 660) * 1_000))
        let service = try issuer.issue(
            user: "shop", workspace: "acme", lifetime: .seconds(60), isService: true, isOperator: true)
        #expect(await own.accepted(service)?.isService == true)
        #expect(await own.accepted(service)?.isOperator == true)
    }

    @Test func `a token that any library makes is accepted, with or without iss and aud`() async throws {
        let key = try TestKey.hs256(bytes)
        let plain = #"{"sub":"ann","ws":"acme","iat":\#(start),"exp":\#(start + 60)}"#
        #expect(try await own.label(key.sign(plain)) == "accepted")
        #expect(try await own.label(key.sign(plain, header: #"{"alg":"HS256"}"#)) == "accepted")
        #expect(try await own.label(key.sign(claims(["ws": #""acme""#]))) == "accepted")
        #expect(try await own.label(key.sign(claims())) == "no_workspace")
    }

    @Test func `only true makes a service`() async throws {
        let key = try TestKey.hs256(bytes)
        for value in [#""yes""#, "1", #""true""#, "[true]", "false", "null"] {
            let verified = await own.accepted(try key.sign(claims(["ws": #""acme""#, "svc": value, "op": value])))
            #expect(verified?.isService == false && verified?.isOperator == false, "\(value)")
        }
    }

    @Test func `another secret's signature is refused, a previous secret's is not`() async throws {
        let other = try #require(TokenSecret([UInt8](repeating: 8, count: 32)))
        let token = try await TokenIssuer(secret: other) { start * 1_000 }
            .issue(user: "ann", workspace: "acme", lifetime: .seconds(60))
        #expect(await own.label(token) == "bad_signature")
        #expect(await verifier([await .own([secret, other])]).label(token) == "accepted")
    }

    @Test func `beside issuers the secret is used only for tokens without another issuer`() async throws {
        let rsa = try #require(TestKey.rsa)
        let both = try await verifier(document(#"{"jwks": \#(TestKey.set(rsa))}"#, #""RS256""#), own: [secret])
        let issuer = await TokenIssuer(secret: secret) { start * 1_000 }
        #expect(try await both.label(issuer.issue(user: "ann", workspace: "w", lifetime: .seconds(60))) == "accepted")
        #expect(try await both.label(rsa.sign(claims())) == "accepted")
        #expect(try await both.label(TestKey.hs256(bytes).sign(claims(["ws": #""w""#]))) == "algorithm_not_allowed")
        // The mistake here is the name, not the algorithm.
        let slash = try rsa.sign(claims(["iss": #""https://id.example/""#]))
        #expect(await both.label(slash) == "unknown_issuer")
    }

    @Test func `a short secret is refused and no secret is printed`() {
        #expect(TokenSecret([UInt8](repeating: 1, count: 31)) == nil)
        var dumped = ""
        dump(secret, to: &dumped)
        #expect("\(secret)" == "TokenSecret(redacted)")
        #expect(!dumped.contains("7"))
    }
}
