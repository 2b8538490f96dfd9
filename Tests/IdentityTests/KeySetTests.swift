import Testing
import TidemarkModel

@testable import TidemarkIdentity

/// Sets of keys as issuers publish them, and keys in PEM.
@Suite struct KeySetTests {
    private func set(_ text: String) async throws -> KeySet { try await KeySet(jwks: Array(text.utf8)) }

    private func error(_ text: String) async -> String? {
        do throws(KeyReadingError) {
            _ = try await KeySet(jwks: Array(text.utf8))
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `keys of all known types are read`() async throws {
        let (rsa, curve, edwards) = (try #require(TestKey.rsa), try TestKey.es256("c"), try TestKey.edDSA("e"))
        let read = try await set(TestKey.set(rsa, curve, edwards))
        #expect(read.keys.map(\.algorithm) == [.rs256, .es256, .edDSA] && read.skipped.isEmpty)
        let checks = try await verifier(
            document(#"{"jwks": \#(TestKey.set(rsa, curve, edwards))}"#, #""RS256", "ES256", "EdDSA""#))
        for key in [rsa, curve, edwards] { #expect(try await checks.label(key.sign(claims())) == "accepted") }
        #expect(try await checks.label(edwards.sign(claims(), header: #"{"alg":"Ed25519","kid":"e"}"#)) == "accepted")
    }

    static let leftOut: [(String, String)] = [
        (#"{"kid":"a","kty":"RSA","use":"enc","n":"AQAB","e":"AQAB"}"#, #"kid "a": for enc, not for signatures"#),
        (#"{"kid":"a","kty":"RSA","key_ops":["sign"]}"#, #"kid "a": not for checking signatures"#),
        (#"{"kty":"EC","crv":"P-384"}"#, "a key without kid: of the curve P-384, which is not supported here"),
        (#"{"kty":"OKP","crv":"X25519"}"#, "a key without kid: of the curve X25519, which is not supported here"),
        (#"{"kid":"a","kty":"RSA","alg":"RSA-OAEP"}"#, #"kid "a": for RSA-OAEP, which is not supported here"#),
        (#"{"kid":"a","kty":"RSA","e":"AQAB"}"#, #"kid "a": without "n""#),
        (#"{"kid":"a","kty":"RSA","n":"AQAB","e":"AQAB"}"#, #"kid "a": not a key of its type"#),
        (#"{"kid":"a","kty":"RSA","n":"\#(String(repeating: "A", count: 1_400))","e":"AQAB"}"#, #"kid "a": too large"#),
        (#"{"kid":"a","kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#, #"kid "a": not a key of its type"#),
        (#"{"kid":"a","kty":"OKP","crv":"Ed25519","x":"AA"}"#, #"kid "a": not a key of its type"#),
        (
            #"{"kid":"a","kty":"oct","k":"\#(String(repeating: "A", count: 64))"}"#,
            #"kid "a": a secret that everybody can read"#
        ),
        (#"{"kty":"AKP"}"#, "a key without kid: of a type that is not supported here"),
        ("7", "a key that is no object"),
    ]

    @Test(arguments: leftOut)
    func `an unusable key is left out with its reason, and the others are used`(_ key: String, _ words: String)
        async throws
    {
        let good = try TestKey.es256("good")
        let read = try await set(#"{"keys":[\#(key),\#(good.jwk)]}"#)
        #expect(read.keys.map(\.id) == ["good"])
        #expect(read.skipped == [words])
    }

    @Test func `an invalid set is reported`() async {
        #expect(await error("<html>")?.hasPrefix("no JSON object") == true)
        #expect(await error("{}") == #"no member "keys""#)
        let many = Array(repeating: #"{"kty":"AKP"}"#, count: 65).joined(separator: ",")
        #expect(await error(#"{"keys":[\#(many)]}"#) == "65 keys; at most 64")
    }

    @Test func `a kid is decisive, and at most four keys without one are tried`() async throws {
        let (named, other) = (try TestKey.es256("a"), try TestKey.es256("b"))
        let checks = try await verifier(document(#"{"jwks": \#(TestKey.set(named, other))}"#, #""ES256""#))
        #expect(try await checks.label(other.sign(claims(), header: #"{"alg":"ES256","kid":"a"}"#)) == "bad_signature")
        #expect(try await checks.label(other.sign(claims(), header: #"{"alg":"ES256","kid":"B"}"#)) == "unknown_key")
        #expect(try await checks.label(other.sign(claims(), header: #"{"alg":"ES256"}"#)) == "accepted")
        let keys = try (0..<5).map { _ in try TestKey.es256(nil) }
        let text = #"{"keys":[\#(keys.map(\.jwk).joined(separator: ","))]}"#
        let many = try await verifier(document(#"{"jwks": \#(text)}"#, #""ES256""#))
        #expect(try await many.label(keys[3].sign(claims())) == "accepted")
        #expect(try await many.label(keys[4].sign(claims())) == "bad_signature")
    }

    @Test func `public keys in PEM are read one after the other`() async throws {
        let keys = [try #require(TestKey.rsa), try TestKey.es256(nil), try TestKey.edDSA(nil)]
        let text = try keys.map { try #require($0.pem) }.joined(separator: "\n") + "\n"
        #expect(try await KeySet(pem: text).keys.map(\.algorithm) == [.rs256, .es256, .edDSA])
        for bad in ["", "no key", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"] {
            await #expect(throws: KeyReadingError.self) { try await KeySet(pem: bad) }
        }
    }
}
