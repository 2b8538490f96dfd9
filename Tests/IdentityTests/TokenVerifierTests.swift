import Foundation
import Testing
import TidemarkModel

@testable import TidemarkIdentity

@Suite struct TokenVerifierTests {
    static let secretBytes = [UInt8](repeating: 7, count: 32)
    /// 2026-01-01T00:00:00Z in seconds.
    static let start: Int64 = 1_767_225_600

    private let secret: TokenSecret
    private let verifier: TokenVerifier
    private let issuer: TokenIssuer

    init() throws {
        secret = try #require(TokenSecret(Self.secretBytes))
        verifier = TokenVerifier(secret: secret) { Self.start * 1000 }
        issuer = TokenIssuer(secret: secret) { Self.start * 1000 }
    }

    /// A token of any header and claims, signed with our secret.
    private func token(_ claims: String, header: String = #"{"alg":"HS256","typ":"JWT"}"#) -> String {
        let text = Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims.utf8)
        return text + "." + Base64URL.encode(secret.sign(Array(text.utf8)))
    }

    /// - Parameter changes: JSON values by name; an empty one takes the claim away.
    private func claims(_ changes: [String: String] = [:]) -> String {
        var fields: [String: String] = [
            "sub": #""ada""#, "ws": #""acme""#, "exp": "\(Self.start + 3600)", "iat": "\(Self.start)",
        ]
        for (name, value) in changes { fields[name] = value.isEmpty ? nil : value }
        return "{" + fields.map { #""\#($0)":\#($1)"# }.joined(separator: ",") + "}"
    }

    @Test func `an issued token is accepted with what it says`() throws {
        let token = try issuer.issue(user: "ada", workspace: "acme", lifetime: .seconds(3600))
        let expected = VerifiedToken(
            user: "ada", workspace: "acme", isService: false, isOperator: false, expiresAt: (Self.start + 3600) * 1000,
            acceptedUntil: (Self.start + 3660) * 1000)
        #expect(try verifier.verify(token) == expected)
        let service = try issuer.issue(user: "shop", workspace: "acme", lifetime: .seconds(60), isService: true)
        #expect(try verifier.verify(service).isService)
    }

    static let rejectedClaims: [(String, [String: String], TokenRejection)] = [
        ("no sub", ["sub": ""], .claims),
        ("no ws", ["ws": ""], .claims),
        ("no exp", ["exp": ""], .claims),
        ("no iat", ["iat": ""], .claims),
        ("empty sub", ["sub": #""""#], .claims),
        ("long ws", ["ws": "\"" + String(repeating: "w", count: 257) + "\""], .claims),
        ("sub is a number", ["sub": "1"], .claims),
        ("exp is text", ["exp": #""soon""#], .claims),
        ("exp overflows", ["exp": "1e300"], .claims),
        ("exp is negative", ["exp": "-1"], .claims),
        ("svc is text", ["svc": #""yes""#], .claims),
        ("expired 60 s ago", ["iat": "\(start - 100)", "exp": "\(start - 60)"], .expired),
        ("issued in 61 s", ["iat": "\(start + 61)"], .notYetValid),
        ("not before in 61 s", ["nbf": "\(start + 61)"], .notYetValid),
        ("a day and a second long", ["exp": "\(start + 86_401)"], .lifetime),
        ("ends before it begins", ["iat": "\(start + 30)", "exp": "\(start + 20)"], .lifetime),
    ]

    @Test(arguments: rejectedClaims)
    func `claims out of bounds are rejected`(_ name: String, _ changes: [String: String], _ rejection: TokenRejection) {
        #expect(throws: rejection) { try verifier.verify(token(claims(changes))) }
    }

    @Test func `the edges of the bounds are accepted`() throws {
        _ = try verifier.verify(token(claims(["exp": "\(Self.start + 86_400)"])))
        _ = try verifier.verify(token(claims(["iat": "\(Self.start + 60)"])))
        _ = try verifier.verify(token(claims(["iat": "\(Self.start - 100)", "exp": "\(Self.start - 59)"])))
    }

    static let rejectedHeaders: [(String, TokenRejection)] = [
        (#"{"alg":"none"}"#, .algorithm), (#"{"alg":"None","typ":"JWT"}"#, .algorithm),
        (#"{"alg":"RS256","typ":"JWT"}"#, .algorithm), (#"{"alg":"HS512"}"#, .algorithm),
        (#"{"typ":"JWT"}"#, .algorithm), (#"{"alg":"HS256","typ":"JWE"}"#, .algorithm),
        (#"{"alg":"HS256","jku":"https://evil.example"}"#, .algorithm),
        (#"{"alg":"HS256","jwk":{"kty":"oct"}}"#, .algorithm),
        (#"{"alg":"HS256","crit":["b64"]}"#, .algorithm), (#"["HS256"]"#, .algorithm), ("{", .malformed),
    ]

    @Test(arguments: rejectedHeaders)
    func `any other algorithm is rejected, signed or not`(_ header: String, _ rejection: TokenRejection) throws {
        let signed = token(claims(), header: header)
        #expect(throws: rejection) { try verifier.verify(signed) }
        let unsigned = try #require(signed.lastIndex(of: "."))
        #expect(throws: rejection) { try verifier.verify(String(signed[...unsigned])) }
    }

    @Test func `a change of any character is noticed`() {
        let genuine = Array(token(claims()).utf8)
        // The last character of the signature carries four bits and two that decoding drops.
        for index in genuine.indices.dropLast() where genuine[index] != UInt8(ascii: ".") {
            var forged = genuine
            forged[index] = forged[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(throws: TokenRejection.self) { try verifier.verify(String(decoding: forged, as: UTF8.self)) }
        }
    }

    @Test func `another secret's signature is rejected, a previous secret's is not`() throws {
        let other = try #require(TokenSecret([UInt8](repeating: 8, count: 32)))
        let token = try TokenIssuer(secret: other) { Self.start * 1000 }
            .issue(user: "ada", workspace: "acme", lifetime: .seconds(60))
        #expect(throws: TokenRejection.signature) { try verifier.verify(token) }
        let rotated = TokenVerifier(secret: secret, previousSecrets: [other]) { Self.start * 1000 }
        #expect(try rotated.verify(token).user == "ada")
    }

    @Test(arguments: [
        "", ".", "..", "...", "a.b", "a.b.c", "a.b.c.d", "ä.ö.ü", "e30.e30.", "e30=.e30.e30", "e+0.e30.e30",
    ])
    func `garbage is rejected`(_ text: String) {
        #expect(throws: TokenRejection.self) { try verifier.verify(text) }
    }

    @Test func `a token of nothing but separators is rejected`() {
        #expect(throws: TokenRejection.malformed) { try verifier.verify(String(repeating: ".", count: 8000)) }
    }

    @Test func `a token beyond 8 KiB is not read`() {
        #expect(throws: TokenRejection.tooLong) { try verifier.verify(String(repeating: "a", count: 8193)) }
        #expect(throws: TokenRejection.malformed) { try verifier.verify(String(repeating: "a", count: 8192)) }
    }

    @Test func `issuer and audience are checked where configured`() throws {
        let policy = TokenPolicy(issuer: "https://id.example", audience: "tidemark")
        let strict = TokenVerifier(secret: secret, policy: policy) { Self.start * 1000 }
        #expect(throws: TokenRejection.issuer) { try strict.verify(token(claims())) }
        let issuerOnly = claims(["iss": #""https://id.example""#])
        #expect(throws: TokenRejection.audience) { try strict.verify(token(issuerOnly)) }
        for audience in [#""tidemark""#, #"["other","tidemark"]"#] {
            _ = try strict.verify(token(claims(["iss": #""https://id.example""#, "aud": audience])))
        }
        for audience in [#""other""#, #"["other"]"#, "[]"] {
            let foreign = claims(["iss": #""https://id.example""#, "aud": audience])
            #expect(throws: TokenRejection.audience) { try strict.verify(token(foreign)) }
        }
        let issuer = TokenIssuer(secret: secret, policy: policy) { Self.start * 1000 }
        _ = try strict.verify(try issuer.issue(user: "ada", workspace: "acme", lifetime: .seconds(60)))
    }

    @Test func `a short secret is refused and no secret shows itself`() {
        #expect(TokenSecret([UInt8](repeating: 1, count: 31)) == nil)
        var dumped = ""
        dump(secret, to: &dumped)
        #expect("\(secret)" == "TokenSecret(redacted)")
        #expect(!dumped.contains("7"))
    }
}
