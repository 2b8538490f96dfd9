import Testing
import TidemarkModel

@testable import TidemarkIdentity

/// Each preset with a token as its service makes it; the keys are ours.
@Suite struct IssuerPresetTests {
    struct Preset: Sendable, CustomTestStringConvertible {
        var name: String
        /// The members beside `preset`, as an operator writes them.
        var members: String
        var issuer: String
        var url: String
        /// The claims beside `iss`, `iat` and `exp`.
        var claims: [String: String]
        /// The claim and value that make a token one for another app.
        var foreign: (claim: String, value: String)
        var usesCurve = false
        /// Other refused claims, with the label of the refusal.
        var wrong: [(claim: String, value: String, label: String)] = []

        var testDescription: String { name }
    }

    static let presets = [
        Preset(
            name: "firebase", members: #""project": "my-app""#, issuer: "https://securetoken.google.com/my-app",
            url: "https://www.googleapis.com:443/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com",
            claims: [
                "aud": #""my-app""#, "sub": #""ann""#, "user_id": #""ann""#, "auth_time": "\(start - 60)",
                "email": #""ann@example.com""#, "email_verified": "false",
                "firebase": #"{"identities":{"email":["ann@example.com"]},"sign_in_provider":"password"}"#,
            ], foreign: ("aud", #""their-app""#),
            wrong: [("auth_time", "\(start + 61)", "not_yet_valid"), ("auth_time", #""now""#, "bad_times")]),
        Preset(
            name: "supabase", members: #""project": "abcdefgh""#, issuer: "https://abcdefgh.supabase.co/auth/v1",
            url: "https://abcdefgh.supabase.co:443/auth/v1/.well-known/jwks.json",
            claims: [
                "aud": #""authenticated""#, "sub": #""ann""#, "role": #""authenticated""#, "aal": #""aal1""#,
                "session_id": #""7d2b1a34""#, "is_anonymous": "false", "app_metadata": #"{"provider":"email"}"#,
            ], foreign: ("aud", #""anon""#), usesCurve: true),
        Preset(
            name: "auth0", members: #""domain": "shop.eu.auth0.com", "audience": "https://sync.example.com""#,
            issuer: "https://shop.eu.auth0.com/", url: "https://shop.eu.auth0.com:443/.well-known/jwks.json",
            claims: [
                "aud": #"["https://sync.example.com","https://shop.eu.auth0.com/userinfo"]"#, "sub": #""ann""#,
                "azp": #""client-1""#, "scope": #""openid profile""#,
            ], foreign: ("aud", #"["https://shop.eu.auth0.com/userinfo"]"#)),
        Preset(
            name: "clerk", members: #""domain": "clerk.example.com", "parties": "https://app.example.com""#,
            issuer: "https://clerk.example.com", url: "https://clerk.example.com:443/.well-known/jwks.json",
            claims: [
                "azp": #""https://app.example.com""#, "sub": #""ann""#, "sid": #""sess_1""#, "nbf": "\(start - 5)",
                "v": "2",
            ], foreign: ("azp", #""https://evil.example.com""#)),
        Preset(
            name: "keycloak", members: #""url": "https://id.example.com", "realm": "shop", "client": "app""#,
            issuer: "https://id.example.com/realms/shop",
            url: "https://id.example.com:443/realms/shop/protocol/openid-connect/certs",
            claims: [
                "aud": #""account""#, "azp": #""app""#, "typ": #""Bearer""#, "sub": #""ann""#,
                "scope": #""openid email""#,
                "realm_access": #"{"roles":["offline_access"]}"#, "preferred_username": #""ann""#,
            ], foreign: ("azp", #""another-client""#), wrong: [("typ", #""ID""#, "required_claim")]),
        Preset(
            name: "cognito", members: #""region": "eu-central-1", "pool": "eu-central-1_AbC", "client": "app""#,
            issuer: "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_AbC",
            url: "https://cognito-idp.eu-central-1.amazonaws.com:443/eu-central-1_AbC/.well-known/jwks.json",
            claims: [
                "client_id": #""app""#, "token_use": #""access""#, "sub": #""ann""#, "username": #""ann""#,
                "scope": #""aws.cognito.signin.user.admin""#, "cognito:groups": #"["crew"]"#,
            ], foreign: ("client_id", #""another""#), wrong: [("token_use", #""id""#, "required_claim")]),
    ]

    @Test func `every preset is tested`() {
        #expect(Self.presets.map(\.name).sorted() == IssuerPreset.names)
    }

    @Test(arguments: presets)
    func `a token of the service is accepted, and one for another app is not`(_ preset: Preset) async throws {
        let key = try preset.usesCurve ? TestKey.es256("k") : #require(TestKey.rsa)
        let issuers = """
            {"issuers": [{"preset": "\(preset.name)", \(preset.members), "keys": {"jwks": \(TestKey.set(key))}}]}
            """
        let checks = try await verifier(issuers)
        let own = preset.claims.merging(["iss": #""\#(preset.issuer)""#]) { $1 }
        func token(_ changes: [String: String]) throws -> String {
            // Only claims that the service uses.
            let base = ["aud": "", "sub": ""].merging(own) { $1 }
            return try key.sign(claims(base.merging(changes) { $1 }))
        }
        let verified = try #require(await checks.accepted(try token([:])))
        #expect(verified.user == UserID("ann") && verified.workspace == WorkspaceID("default") && !verified.isService)
        let (claim, foreign) = preset.foreign
        #expect(try await checks.label(token([claim: foreign])) == "wrong_audience")
        #expect(try await checks.label(token([claim: ""])) == "wrong_audience")
        #expect(try await checks.label(token(["iss": #""\#(preset.issuer)x""#])) == "unknown_issuer")
        #expect(try await checks.label(token(["sub": ""])) == "no_user")
        for (claim, value, label) in preset.wrong { #expect(try await checks.label(token([claim: value])) == label) }
        let other = try preset.usesCurve ? TestKey.es256("k") : #require(TestKey.otherRSA)
        #expect(
            try await checks.label(other.sign(claims(own), header: #"{"alg":"\#(key.algorithm)"}"#)) == "bad_signature")
    }

    @Test(arguments: presets)
    func `the keys come from the address where the service publishes them`(_ preset: Preset) async throws {
        let text = #"{"issuers": [{"preset": "\#(preset.name)", \#(preset.members)}]}"#
        let issuer = try #require(try await IssuerFile(Array(text.utf8)) { _ in nil }.issuers().first)
        #expect(issuer.issuer == preset.issuer && issuer.name == preset.name)
        #expect(issuer.keySource?.description == preset.url)
    }

    @Test func `a token of Firebase's emulator, which is unsigned, is refused`() async throws {
        let key = try #require(TestKey.rsa)
        let checks = try await verifier(
            #"{"issuers": [{"preset": "firebase", "project": "my-app", "keys": {"jwks": \#(TestKey.set(key))}}]}"#)
        let claims = claims(["iss": #""https://securetoken.google.com/my-app""#, "aud": #""my-app""#])
        let unsigned = Base64URL.encode(#"{"alg":"none","typ":"JWT"}"#.utf8) + "." + Base64URL.encode(claims.utf8) + "."
        #expect(await checks.label(unsigned) == "algorithm_not_allowed")
    }

    @Test func `the members of a preset can be overridden`() async throws {
        let key = try #require(TestKey.rsa)
        let checks = try await verifier(
            """
            {"issuers": [{"preset": "firebase", "project": "my-app", "keys": {"jwks": \(TestKey.set(key))},
                "user": {"template": "g-{user_id}"}, "workspace": {"claim": "firebase.tenant"},
                "service": {"claim": "roles", "has": "backend"}, "operator": {"claim": "admin", "is": true}}]}
            """)
        let base = ["iss": #""https://securetoken.google.com/my-app""#, "aud": #""my-app""#, "user_id": #""7""#]
        let tenant = base.merging(["firebase": #"{"tenant":"acme"}"#, "roles": #"["backend"]"#, "admin": "true"]) { $1 }
        let verified = try #require(await checks.accepted(try key.sign(claims(tenant))))
        #expect(verified.user == UserID("g-7") && verified.workspace == WorkspaceID("acme"))
        #expect(verified.isService && verified.isOperator)
        #expect(try await checks.label(key.sign(claims(base))) == "no_workspace")
    }
}
