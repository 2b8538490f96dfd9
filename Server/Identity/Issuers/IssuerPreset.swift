import TidemarkModel

/// The values for tokens of a service that many use. The file can override each of them.
///
/// `deploy/identity.md` has a complete example of each; IssuerPresetTests checks tokens of the shape that each makes.
struct IssuerPreset {
    var issuer: String
    var audience: [String]
    var audienceClaim = "aud"
    var algorithms: Set<TokenAlgorithm> = [.rs256]
    var keysURL: String
    var required: [ClaimTest] = []
    var pastTimes: [String] = []
}

extension IssuerPreset {
    static let names = ["auth0", "clerk", "cognito", "firebase", "keycloak", "supabase"]

    /// - Parameter members: the members that name the project, pool or realm are taken from them.
    init(_ name: String, _ preset: LocatedJSON, _ members: inout IssuerMembers) throws(Misplaced) {
        switch name {
        case "firebase":
            let project = try members.part("project", "the id of the Firebase project")
            // Google signs for every project with the same keys: only the audience distinguishes your project's tokens
            // from others'.
            self.init(
                issuer: "https://securetoken.google.com/\(project)", audience: [project],
                keysURL: "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com",
                pastTimes: ["auth_time"])
        case "supabase":
            let project = try members.part("project", "the reference of the project: the part before .supabase.co")
            let issuer = "https://\(project).supabase.co/auth/v1"
            self.init(
                issuer: issuer, audience: ["authenticated"], algorithms: [.es256, .rs256],
                keysURL: issuer + "/.well-known/jwks.json")
        case "auth0":
            let domain = try members.part("domain", "the domain of the tenant, such as shop.eu.auth0.com")
            // The audience is the identifier of your API, which has no default.
            self.init(
                issuer: "https://\(domain)/", audience: [], keysURL: "https://\(domain)/.well-known/jwks.json")
        case "clerk":
            let domain = try members.part("domain", "the frontend API's domain, such as clerk.example.com")
            let parties = try members.texts("parties")
            guard let parties else {
                throw members.failure("parties", nil, "missing: the origins of your apps, as tokens name them in azp")
            }
            self.init(
                issuer: "https://\(domain)", audience: parties, audienceClaim: "azp",
                keysURL: "https://\(domain)/.well-known/jwks.json")
        case "keycloak":
            let server = try members.neededText("url", "where Keycloak is, such as https://id.example.com")
            let issuer = "\(server)/realms/\(try members.part("realm", "the realm"))"
            // Without a mapper, access tokens name the client in azp alone. ID tokens are signed with the same key.
            self.init(
                issuer: issuer, audience: try members.clients(), audienceClaim: "azp",
                keysURL: issuer + "/protocol/openid-connect/certs",
                required: [ClaimTest(claim: ClaimPath("typ"), wanted: .value("Bearer"))])
        case "cognito":
            let region = try members.part("region", "the region, such as eu-central-1")
            let pool = try members.part("pool", "the id of the user pool, such as eu-central-1_AbCdEfGhI")
            let issuer = "https://cognito-idp.\(region).amazonaws.com/\(pool)"
            // Access tokens have no aud.
            self.init(
                issuer: issuer, audience: try members.clients(), audienceClaim: "client_id",
                keysURL: issuer + "/.well-known/jwks.json",
                required: [ClaimTest(claim: ClaimPath("token_use"), wanted: .value("access"))])
        default:
            throw Misplaced(
                preset,
                "\(members.path).preset: unknown preset \"\(name)\"; expected: "
                    + Self.names.joined(separator: ", "))
        }
    }
}

extension IssuerMembers {
    /// Takes a text that becomes a part of a URL, which it must not be able to end.
    fileprivate mutating func part(_ name: String, _ meaning: String) throws(Misplaced) -> String {
        let value = try neededText(name, meaning)
        guard value.utf8.allSatisfy({ Self.isPlain($0) }) else {
            throw failure(name, nil, "\"\(value)\" is not \(meaning)")
        }
        return value
    }

    fileprivate mutating func clients() throws(Misplaced) -> [String] {
        guard let clients = try texts("client") else {
            throw failure("client", nil, "missing: the id of the client that your apps sign in with, or a list of them")
        }
        return clients
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
