import Crypto
import Testing
import TidemarkModel

@testable import TidemarkIdentity

/// The attempts of an attacker without a key.
@Suite struct TokenAttackTests {
    private let key: TestKey
    private let plain: TokenVerifier

    init() async throws {
        key = try #require(TestKey.rsa)
        plain = try await verifier(document(#"{"jwks": \#(TestKey.set(key))}"#, #""RS256""#))
    }

    @Test func `a good token is accepted`() async throws {
        let verified = try #require(await plain.accepted(try key.sign(claims())))
        #expect(verified.user == UserID("ann") && verified.workspace == WorkspaceID("default"))
        #expect(verified.expiresAt == (start + 3_600) * 1_000 && verified.acceptedUntil == (start + 3_660) * 1_000)
        #expect(!verified.isService && !verified.isOperator && verified.issuedAt == start * 1_000)
    }

    @Test func `a public key is not accepted as a secret, whatever the token and the issuer claim`() async throws {
        let pem = try #require(key.pem)
        for secret in [Array(pem.utf8), Array((pem + "\n").utf8)] {
            let forged = try TestKey.hs256(secret, key.id).sign(claims())
            #expect(await plain.label(forged) == "algorithm_not_allowed")
            let both = try await verifier(
                document(
                    #"{"jwks": \#(TestKey.set(key)), "secret": "a secret of 32 bytes or some more"}"#,
                    #""RS256", "HS256""#))
            #expect(await both.label(forged) == "bad_signature")
        }
    }

    @Test func `the key decides the algorithm, not the token`() async throws {
        let (curve, secret) = (try TestKey.es256("rsa-1"), [UInt8](repeating: 7, count: 40))
        let mixed = try await verifier(document(#"{"jwks": \#(TestKey.set(key))}"#, #""RS256", "ES256", "EdDSA""#))
        #expect(try await mixed.label(curve.sign(claims())) == "unknown_key")
        let header = #"{"alg":"RS256","kid":"rsa-1"}"#
        #expect(try await mixed.label(curve.sign(claims(), header: header)) == "bad_signature")
        #expect(try await mixed.label(TestKey.hs256(secret).sign(claims(), header: header)) == "bad_signature")
    }

    static let headers: [(String, String)] = [
        (#"{"alg":"none"}"#, "algorithm_not_allowed"), (#"{"alg":"None","kid":"rsa-1"}"#, "algorithm_not_allowed"),
        (#"{"alg":"nOnE"}"#, "algorithm_not_allowed"), (#"{"alg":""}"#, "algorithm_not_allowed"),
        (#"{"alg":"RS512","kid":"rsa-1"}"#, "algorithm_not_allowed"),
        (#"{"alg":"PS256","kid":"rsa-1"}"#, "algorithm_not_allowed"),
        (#"{"alg":"RS256","kid":"rsa-1","crit":["exp"]}"#, "unsupported_header"),
        (#"{"alg":"RS256","kid":"rsa-1","crit":[]}"#, "unsupported_header"),
        (#"{"alg":"RS256","kid":"rsa-1","b64":false}"#, "unsupported_header"),
        (#"{"alg":"RS256","kid":"rsa-1","zip":"DEF"}"#, "unsupported_header"),
        (#"{"alg":"RS256","jku":"https://evil.example/keys"}"#, "unsupported_header"),
        (#"{"alg":"RS256","jwk":{"kty":"RSA"}}"#, "unsupported_header"),
        (#"{"alg":"RS256","x5u":"https://evil.example"}"#, "unsupported_header"),
        (#"{"alg":"RS256","x5c":["MII"]}"#, "unsupported_header"),
        (#"{"alg":"RS256","typ":"JWE"}"#, "unsupported_header"), (#"{"alg":["RS256"]}"#, "unsupported_header"),
        (#"{"alg":"RS256","kid":7}"#, "unsupported_header"), (#"{"alg":"RS256","kid":""}"#, "unsupported_header"),
        (#"{"typ":"JWT"}"#, "unsupported_header"), (#"["RS256"]"#, "malformed"), ("{", "malformed"),
        (#"{"alg":"RS256","alg":"none"}"#, "malformed"), (#"{"alg":"RS256","\u0061lg":"none"}"#, "malformed"),
        (#"{"alg":"RS256","kid":"../../etc/passwd"}"#, "unknown_key"),
        (#"{"alg":"RS256","kid":"rsa-1' OR '1'='1"}"#, "unknown_key"),
    ]

    @Test(arguments: headers)
    func `a header that requires something else is refused, signed or not`(_ header: String, _ label: String)
        async throws
    {
        let signed = try key.sign(claims(), header: header)
        #expect(await plain.label(signed) == label)
        let unsigned = try #require(signed.lastIndex(of: "."))
        #expect(await plain.label(String(signed[...unsigned])) == label)
    }

    @Test func `further members of a header are ignored`() async throws {
        for header in [
            #"{"alg":"RS256","kid":"rsa-1","cat":"cl_B7d4PD111AAA","typ":"JWT"}"#,
            #"{"alg":"RS256","kid":"rsa-1","typ":"at+jwt","x5t":"abc"}"#, #"{"alg":"RS256"}"#,
        ] { #expect(try await plain.label(key.sign(claims(), header: header)) == "accepted") }
    }

    static let badClaims: [(String, [String: String], String)] = [
        ("no iss", ["iss": ""], "unknown_issuer"),
        ("iss is a list", ["iss": #"["https://id.example"]"#], "unknown_issuer"),
        ("iss with a slash", ["iss": #""https://id.example/""#], "unknown_issuer"),
        ("iss in capitals", ["iss": #""https://ID.example""#], "unknown_issuer"),
        ("no exp", ["exp": ""], "bad_times"), ("no iat", ["iat": ""], "bad_times"),
        ("exp is text", ["exp": #""\#(start + 60)""#], "bad_times"), ("exp overflows", ["exp": "1e300"], "bad_times"),
        ("exp is beyond Int64", ["exp": "99999999999999999999"], "bad_times"),
        ("exp is past the year 9999", ["exp": "253402300800"], "bad_times"),
        ("exp is negative", ["exp": "-1"], "bad_times"), ("exp is no number of JSON", ["exp": "1e999"], "malformed"),
        ("exp is NaN", ["exp": "NaN"], "malformed"), ("nbf is null", ["nbf": "null"], "bad_times"),
        ("expired 60 s ago", ["iat": "\(start - 100)", "exp": "\(start - 60)"], "token_expired"),
        ("issued in 61 s", ["iat": "\(start + 61)"], "not_yet_valid"),
        ("not before in 61 s", ["nbf": "\(start + 61)"], "not_yet_valid"),
        ("a day and a second long", ["exp": "\(start + 86_401)"], "lifetime_too_long"),
        ("ends before it begins", ["iat": "\(start + 30)", "exp": "\(start + 20)"], "lifetime_too_long"),
        ("no aud", ["aud": ""], "wrong_audience"), ("another aud", ["aud": #""other""#], "wrong_audience"),
        ("an empty list of aud", ["aud": "[]"], "wrong_audience"),
        ("a list in a list", ["aud": #"[["app"]]"#], "wrong_audience"),
        ("aud is an object", ["aud": #"{"app":true}"#], "wrong_audience"),
        ("no sub", ["sub": ""], "no_user"), ("sub is a number", ["sub": "1"], "no_user"),
        ("empty sub", ["sub": #""""#], "no_user"), ("sub with a control character", ["sub": #""a\u0000b""#], "no_user"),
        ("long sub", ["sub": #""\#(String(repeating: "a", count: 129))""#], "no_user"),
    ]

    @Test(arguments: badClaims)
    func `claims out of bounds are refused`(_ name: String, _ changes: [String: String], _ label: String) async throws {
        #expect(try await plain.label(key.sign(claims(changes))) == label)
    }

    @Test func `the edges of the bounds are accepted`() async throws {
        for changes in [
            ["exp": "\(start + 86_400)"], ["iat": "\(start + 60)"], ["nbf": "\(start + 60)"],
            ["iat": "\(start - 100)", "exp": "\(start - 59)"], ["aud": #"["other","app"]"#],
            ["exp": "\(start + 3_600).5"],
        ] { #expect(try await plain.label(key.sign(claims(changes))) == "accepted", "\(changes)") }
    }

    @Test func `a claim that occurs twice is refused, at any depth`() async throws {
        let twice = claims().dropLast() + #","sub":"bob"}"#
        #expect(try await plain.label(key.sign(String(twice))) == "malformed")
        #expect(try await plain.label(key.sign(claims(["x": #"{"a":1,"a":2}"#]))) == "malformed")
        let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        #expect(try await plain.label(key.sign(claims(["x": deep]))) == "malformed")
    }

    @Test func `a change of any character is noticed`() async throws {
        let genuine = Array(try key.sign(claims()).utf8)
        for index in genuine.indices.dropLast() where genuine[index] != UInt8(ascii: ".") && index % 3 == 0 {
            var forged = genuine
            forged[index] = forged[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(await plain.label(String(decoding: forged, as: UTF8.self)) != "accepted")
        }
        #expect(
            try await plain.label(#require(TestKey.otherRSA).sign(claims(), header: #"{"alg":"RS256"}"#))
                == "bad_signature")
    }

    @Test(arguments: [
        "", ".", "..", "...", "a.b", "a.b.c", "a.b.c.d", "ä.ö.ü", "e30.e30.", "e30=.e30.e30", "e+0.e30.e30",
        String(repeating: ".", count: 8_000), String(repeating: "a", count: 8_192),
    ])
    func `garbage is refused`(_ text: String) async {
        #expect(["malformed", "unsupported_header"].contains(await plain.label(text)))
    }

    @Test func `a token beyond 8 KiB is not read`() async {
        #expect(await plain.label(String(repeating: "a", count: 8_193)) == "too_long")
    }

    @Test func `until the signature is verified the answer does not reveal what would have been accepted`() {
        let early: [TokenRejection] = [.header, .issuer, .algorithm, .key, .signature]
        #expect(Set(early.map(\.description)).count == 1)
        #expect(Set(TokenRejection.allCases.map(\.label)).count == TokenRejection.allCases.count)
        for rejection in TokenRejection.allCases { #expect(rejection.description.utf8.count <= 123) }
    }
}
