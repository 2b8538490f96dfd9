import Testing
import TidemarkModel

@testable import TidemarkIdentity

/// The output of `tidemark token explain`.
@Suite struct TokenExplanationTests {
    private let key: TestKey
    private let checks: TokenVerifier

    init() async throws {
        key = try #require(TestKey.rsa)
        checks = try await verifier(
            document(
                #"{"jwks": \#(TestKey.set(key))}"#, #""RS256""#,
                #", "workspace": {"claim": "org.id"}, "require": [{"claim": "scope", "has": "sync"}]"#))
    }

    private func lines(_ token: String) async -> [String] {
        let explanation = await TokenExplanation(of: token, by: checks, now: start * 1_000) { "day \($0)" }
        return explanation.lines.map { line in
            switch line {
            case .fact(let name, let text): "\(name): \(text)"
            case .verdict(let text): text
            }
        }
    }

    @Test func `an accepted token is explained with its identity`() async throws {
        let lines = await lines(try key.sign(claims(["org": #"{"id":"acme"}"#, "scope": #""openid sync""#])))
        #expect(
            lines == [
                "algorithm: RS256", #"key: "rsa-1""#, #"iss: "https://id.example""#, #"sub: "ann""#, #"aud: "app""#,
                "iat: was issued 0 s ago, day 1767225600000", "exp: ends in 1 h, day 1767229200000",
                "also has: org, scope",
                "issuer: id", "signed by: RS256", #"known keys: "rsa-1" (RS256)"#,
                #"audience: aud is "app"; accepted: app"#,
                #"required: scope has "sync": yes"#, #"user: the claim sub: "ann""#,
                #"workspace: the claim org.id: "acme""#,
                "bounds: lives 1 d at most; clocks may differ by 1 min",
                #"accepted: user "ann" in workspace "acme""#,
            ])
    }

    @Test func `the last line names the failed check, and the ones before it the expected values`() async throws {
        let foreign = await lines(try key.sign(claims(["aud": #""other""#])))
        #expect(foreign.contains(#"audience: aud is "other"; accepted: app"#))
        #expect(foreign.last == "refused: wrong_audience: it is meant for another audience")
        let stranger = await lines(try key.sign(claims(["iss": #""https://nobody.example""#])))
        #expect(stranger.contains("accepted: https://id.example"))
        #expect(stranger.last?.hasPrefix("refused: unknown_issuer") == true)
        let unknown = await lines(try key.sign(claims(), header: #"{"alg":"RS256","kid":"gone"}"#))
        #expect(unknown.contains(#"key: "gone""#) && unknown.contains(#"known keys: "rsa-1" (RS256)"#))
        #expect(unknown.last == "refused: unknown_key: the issuer has no such key")
        #expect(
            await lines("no token") == [
                "refused: malformed: not three base64url parts of a JWT with JSON in them, or a name in it occurs twice"
            ])
    }

    @Test func `control characters are shown and not executed, wherever in the token they are`() async throws {
        let (escape, newline) = (#"\u001b[2J\u009b1mx"#, #"\naccepted: user \u202e"#)
        let tokens = [
            try key.sign(claims(), header: #"{"alg":"\#(escape)","kid":"\#(newline)"}"#),
            try key.sign(claims(), header: #"{"alg":"RS256","kid":"\#(escape)\#(newline)"}"#),
            try key.sign(
                claims(["sub": #""\#(escape)""#, "org": #"{"id":"\#(newline)"}"#, escape: "1", "scope": #""sync""#])),
            try key.sign(claims(["sub": #""a\u009b""#, "org": #"{"id":"\u2028"}"#, "scope": #""sync""#])),
        ]
        for token in tokens {
            let lines = await lines(token)
            let steering = lines.joined().unicodeScalars.filter {
                [.control, .format, .lineSeparator].contains($0.properties.generalCategory)
            }
            #expect(steering.isEmpty, "\(lines)")
        }
        #expect(await lines(tokens[0]).contains(#"algorithm: \u{1b}[2J\u{9b}1mx"#))
    }

    @Test func `invalid times do not end it`() async throws {
        for value in ["1e300", "-1", #""soon""#, "null", "9223372036854775807", "[]"] {
            let lines = await lines(try key.sign(claims(["exp": value, "nbf": value, "iat": value])))
            #expect(lines.last?.hasPrefix("refused: bad_times") == true, "\(value)")
        }
    }

    @Test func `neither a secret nor the signature is in it`() async throws {
        let bytes = Array("a secret of forty bytes, or a few more..".utf8)
        let own = verifier([await .own([try #require(TokenSecret(bytes))])])
        let token = try TestKey.hs256(bytes).sign(claims(["ws": #""w""#]))
        let explanation = await TokenExplanation(of: token, by: own, now: start * 1_000) { "\($0)" }
        let text = explanation.lines.map { "\($0)" }.joined()
        #expect(text.contains("own secret") && text.contains("accepted: user"))
        let signature = try #require(token.split(separator: ".").last)
        #expect(!text.contains("forty") && !text.contains(signature))
    }
}
