import Foundation

/// The payload of our tokens. Times are seconds since 1970, as JWT wants them.
struct TokenClaims: Codable {
    var sub: String
    var ws: String
    var exp: Double
    var iat: Double
    var nbf: Double?
    var iss: String?
    var aud: Audience?
    /// Present and true for a program that acts for the operator rather than for a user.
    var svc: Bool?
    /// Present and true for whoever runs the server: opens the calls of operators.
    var op: Bool?

    /// One name or several: JWT allows both forms.
    enum Audience: Codable {
        case one(String)
        case many([String])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            do {
                self = .one(try container.decode(String.self))
            } catch DecodingError.typeMismatch {
                self = .many(try container.decode([String].self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .one(let name): try container.encode(name)
            case .many(let names): try container.encode(names)
            }
        }

        func names(_ audience: String) -> Bool {
            switch self {
            case .one(let name): name == audience
            case .many(let names): names.contains(audience)
            }
        }
    }
}
