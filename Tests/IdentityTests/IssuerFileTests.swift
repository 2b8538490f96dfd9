import Foundation
import Testing
import TidemarkModel

@testable import TidemarkIdentity

/// Mistakes in a file of issuers are reported by line and member.
@Suite struct IssuerFileTests {
    /// The reported mistake; `nil` for a valid document.
    private func error(_ document: String, files: [String: String] = [:]) async -> String? {
        do throws(IssuerFileError) {
            _ = try await IssuerFile(Array(document.utf8)) { files[$0].map { Array($0.utf8) } }.issuers()
            return nil
        } catch {
            return "\(error)"
        }
    }

    private static let head = #""issuer": "https://id.example", "audience": "app", "algorithms": "RS256""#
    private static let url = #""keys": {"url": "https://id.example/keys"}"#

    static let mistakes: [(String, String)] = [
        ("", "line 1: not JSON"), ("[]", "line 1: the document: must be an object"),
        ("{}", #"line 1: the document: must have a list "issuers""#),
        (#"{"issuers": []}"#, "line 1: issuers: 0 of them; there must be 1 to 32"),
        (#"{"issuers": [], "extra": 1}"#, #"line 1: the document: unknown member "extra"; expected: "issuers""#),
        (#"{"issuers": [], "issuers": []}"#, #"line 1: not JSON: "issuers" occurs twice"#),
        (#"{"issuers": ["firebase"]}"#, "line 1: issuers[0]: must be an object"),
        (
            "{\"issuers\": [\n{\"preset\": \"okta\"}]}",
            #"line 2: issuers[0].preset: unknown preset "okta"; expected: auth0, clerk, cognito, firebase, keycloak, supabase"#
        ),
        (
            #"{"issuers": [{"preset": "firebase"}]}"#,
            "line 1: issuers[0].project: missing: the id of the Firebase project"
        ),
        (
            #"{"issuers": [{"preset": "firebase", "project": "a/b"}]}"#,
            #"line 1: issuers[0].project: "a/b" is not the id"#
        ),
        (
            #"{"issuers": [{"preset": "auth0", "domain": "a.auth0.com"}]}"#,
            "line 1: issuers[0].audience: missing: the accepted"
        ),
        (#"{"issuers": [{"preset": "clerk", "domain": "a.b"}]}"#, "line 1: issuers[0].parties: missing"),
        (#"{"issuers": [{"preset": "cognito", "region": "r", "pool": "p"}]}"#, "line 1: issuers[0].client: missing"),
        (#"{"issuers": [{"name": "a"}]}"#, #"line 1: issuers[0].issuer: missing: the value of the tokens' "iss""#),
        (#"{"issuers": [{"issuer": "i"}]}"#, #"line 1: issuers[0].audience: missing: the accepted "aud" of tokens"#),
        (#"{"issuers": [{"issuer": "i", "audience": []}]}"#, "line 1: issuers[0].audience: must not be empty"),
        (
            #"{"issuers": [{"issuer": "i", "audience": ""}]}"#,
            "line 1: issuers[0].audience: must be a text that is not empty"
        ),
        (
            #"{"issuers": [{"issuer": "i", "audience": "a"}]}"#,
            "line 1: issuers[0].algorithms: missing: of HS256, RS256"
        ),
        (
            #"{"issuers": [{"issuer": "i", "audience": "a", "algorithms": ["none"]}]}"#,
            #"line 1: issuers[0].algorithms: "none" is none of HS256, RS256, ES256, EdDSA"#
        ),
        (#"{"issuers": [{\#(head)}]}"#, #"line 1: issuers[0].keys: missing: "url", "jwks""#),
        (#"{"issuers": [{\#(head), "keys": {}}]}"#, "line 1: issuers[0].keys.url: missing"),
        (
            #"{"issuers": [{\#(head), \#(url), "audiance": "b"}]}"#,
            #"line 1: issuers[0]: unknown member "audiance""#
        ),
        (#"{"issuers": [{\#(head), "keys": {"uri": "https://a.b"}}]}"#, "line 1: issuers[0].keys.url: missing"),
        (
            #"{"issuers": [{\#(head), "keys": {"url": "ftp://a.b/"}}]}"#,
            "line 1: issuers[0].keys.url: must begin with https://"
        ),
        (
            #"{"issuers": [{\#(head), "keys": {"url": "http://a.b/"}}]}"#,
            "line 1: issuers[0].keys.url: must begin with https://"
        ),
        (
            #"{"issuers": [{\#(head), "keys": {"url": "https://u:p@a.b/"}}]}"#,
            "line 1: issuers[0].keys.url: must hold no user"
        ),
        (#"{"issuers": [{\#(head), "keys": {"url": "https://a.b:0/"}}]}"#, "line 1: issuers[0].keys.url: has no port"),
        (#"{"issuers": [{\#(head), "keys": {"url": "https:///x"}}]}"#, "line 1: issuers[0].keys.url: names no host"),
        (
            #"{"issuers": [{\#(head), "keys": {"url": "https://169.254.169.254/x"}}]}"#,
            #"line 1: issuers[0].keys.url: leads to a private address; name it in "allow_addresses" if that is right"#
        ),
        (
            #"{"issuers": [{\#(head), "keys": {"url": "https://[::1]/x"}}]}"#,
            "line 1: issuers[0].keys.url: leads to a private"
        ),
        (
            #"{"issuers": [{\#(head), "keys": {"url": "https://localhost/x"}}]}"#,
            "line 1: issuers[0].keys.url: leads to a private"
        ),
        (
            #"{"issuers": [{\#(head), "keys": {"url": "http://10.0.0.1/x", "allow_addresses": "10.0.0.0/8"}}]}"#,
            "line 1: issuers[0].keys.url: must begin with https://"
        ),
        (
            #"{"issuers": [{\#(head), "keys": {"url": "https://a.b/", "allow_addresses": "10.0.0.0/99"}}]}"#,
            #"line 1: issuers[0].keys.allow_addresses: "10.0.0.0/99" is neither an address nor a network"#
        ),
        (
            #"{"issuers": [{\#(head), "keys": {"pem_file": "gone.pem"}}]}"#,
            "line 1: issuers[0].keys.pem_file: cannot read the file"
        ),
        (
            #"{"issuers": [{\#(head), "keys": {"url": "https://a.b/", "trust_roots_file": "gone.pem"}}]}"#,
            "line 1: issuers[0].keys.trust_roots_file: cannot read the file gone.pem"
        ),
        (#"{"issuers": [{\#(head), "keys": {"pem": "no"}}]}"#, "line 1: issuers[0].keys.pem: no key in PEM"),
        (#"{"issuers": [{\#(head), "keys": {"jwks": {}}}]}"#, #"line 1: issuers[0].keys.jwks: no member "keys""#),
        (
            #"{"issuers": [{\#(head), "keys": {"jwks": {"keys": []}}}]}"#,
            "line 1: issuers[0].keys.jwks: no key for RS256"
        ),
        (
            #"{"issuers": [{\#(head), "keys": {"secret": "short"}}]}"#,
            "line 1: issuers[0].keys.secret: the secret has 5 bytes and needs"
        ),
        (
            #"{"issuers": [{"issuer": "i", "audience": "a", "algorithms": "HS256", \#(url)}]}"#,
            "line 1: issuers[0].keys.secret_file: missing: a secret for HS256 is never fetched from a URL"
        ),
        (
            #"{"issuers": [{\#(head), \#(url), "user": {"fixed": "ann"}}]}"#,
            "line 1: issuers[0].user: must come from a claim"
        ),
        (
            #"{"issuers": [{\#(head), \#(url), "workspace": {}}]}"#,
            #"line 1: issuers[0].workspace: must have one of "fixed""#
        ),
        (
            #"{"issuers": [{\#(head), \#(url), "workspace": {"template": "{a}-{b}"}}]}"#,
            "line 1: issuers[0].workspace.template: must hold one claim in braces"
        ),
        (#"{"issuers": [{\#(head), \#(url), "service": {"claim": "a"}}]}"#, "line 1: issuers[0].service.is: missing"),
        (
            #"{"issuers": [{\#(head), \#(url), "leeway_seconds": 301}]}"#,
            "line 1: issuers[0].leeway_seconds: must be a whole number"
        ),
        (
            #"{"issuers": [{\#(head), \#(url), "leeway_seconds": 1.5}]}"#,
            "line 1: issuers[0].leeway_seconds: must be a whole number"
        ),
        (
            #"{"issuers": [{\#(head), \#(url)}, {\#(head), \#(url), "name": "b"}]}"#,
            "line 1: issuers[1].issuer: the same as that of issuers[0]; give both audiences in one"
        ),
        (
            #"{"issuers": [{\#(head), \#(url), "name": "a"}, {"issuer": "j", "audience": "a", "algorithms": "RS256", \#(url), "name": "a"}]}"#,
            #"line 1: issuers[1].name: "a" is the name of issuers[0] too"#
        ),
    ]

    @Test(arguments: mistakes)
    func `a mistake is reported by its line and member`(_ document: String, _ words: String) async throws {
        let error = try #require(await error(document), "accepted: \(document)")
        #expect(error.hasPrefix(words), "\(error)")
    }

    @Test func `the report contains nothing of a secret`() async throws {
        let secret = "twenty-nine bytes of a secret"
        let words = try #require(await error(#"{"issuers": [{\#(Self.head), "keys": {"secret": "\#(secret)"}}]}"#))
        #expect(!words.contains("twenty"))
        let private_ = #"{"issuers": [{\#(Self.head), "keys": {"pem_file": "k"}}]}"#
        let pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\n-----END PRIVATE KEY-----\n"
        let told = try #require(await error(private_, files: ["k": pem]))
        #expect(told.contains("a private key; only the public half belongs here") && !told.contains("MIIE"))
    }

    @Test func `a loopback address over http and a private one over https are for issuers that name them`() async {
        let loopback = #"{"url": "http://127.0.0.1:8000/keys", "allow_addresses": "127.0.0.1"}"#
        #expect(await error(#"{"issuers": [{\#(Self.head), "keys": \#(loopback)}]}"#) == nil)
        let inside = #"{"url": "https://10.1.2.3/keys", "allow_addresses": ["10.0.0.0/8"]}"#
        #expect(await error(#"{"issuers": [{\#(Self.head), "keys": \#(inside)}]}"#) == nil)
    }

    @Test func `the examples of deploy/identity.md are accepted, and contain every preset`() async throws {
        let page = URL(filePath: #filePath).appending(path: "../../../deploy/identity.md").standardizedFileURL
        let text = try String(contentsOf: page, encoding: .utf8)
        let examples = text.components(separatedBy: "```json\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
        #expect(examples.count == IssuerPreset.names.count + 1)
        for example in examples { #expect(await error(example) == nil, "\(example)") }
        for name in IssuerPreset.names { #expect(examples.contains { $0.contains("\"preset\": \"\(name)\"") }) }
        for member in IssuerDraft.members { #expect(text.contains("| `\(member)` |"), "\(member)") }
        for label in TokenRejection.allCases.map(\.label) + [RefusalCounts.unavailable] {
            #expect(text.contains("`\(label)`"), "\(label)")
        }
    }

    @Test func `keys come from all named sources`() async throws {
        let (rsa, curve) = (try #require(TestKey.rsa), try TestKey.es256("c"))
        let issuer = #"{"jwks_file": "set.json", "pem_file": "key.pem", "secret_file": "secret"}"#
        let checks = try await verifier(
            document(issuer, #""RS256", "ES256", "HS256""#),
            files: [
                "set.json": TestKey.set(rsa), "key.pem": try #require(curve.pem),
                "secret": String(repeating: "s", count: 32) + "\n",
            ])
        #expect(try await checks.label(rsa.sign(claims())) == "accepted")
        #expect(try await checks.label(curve.sign(claims())) == "accepted")
        #expect(
            try await checks.label(TestKey.hs256(Array(repeating: UInt8(ascii: "s"), count: 32)).sign(claims()))
                == "accepted")
    }

    @Test func `issuers that can name each other's users are found`() async throws {
        func issuers(_ first: String, _ second: String) async throws -> [Issuer] {
            let text = """
                {"issuers": [{\(Self.head), \(Self.url), "name": "a", \(first)},
                    {"issuer": "j", "audience": "a", "algorithms": "RS256", \(Self.url), "name": "b", \(second)}]}
                """
            return try await IssuerFile(Array(text.utf8)) { _ in nil }.issuers()
        }
        let same = try await issuers(#""user": "sub""#, #""user": "email""#)
        #expect(same[0].canNameUsers(of: same[1]))
        let apart = try await issuers(#""user": {"template": "a-{sub}"}"#, #""user": {"template": "b-{sub}"}"#)
        #expect(!apart[0].canNameUsers(of: apart[1]))
        let rooms = try await issuers(#""workspace": {"fixed": "a"}"#, #""workspace": {"fixed": "b"}"#)
        #expect(!rooms[0].canNameUsers(of: rooms[1]))
        #expect(!rooms[0].canNameUsers(of: await .own([])))
    }
}
