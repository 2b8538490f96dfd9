import Crypto
import Foundation
import TidemarkModel

@testable import TidemarkAssembly

/// A key of an issuer that the tests play.
struct IssuerKey: Sendable {
    let id: String
    private let key = P256.Signing.PrivateKey()

    /// A JWK set of some keys.
    static func set(_ keys: IssuerKey...) -> String { #"{"keys":[\#(keys.map(\.jwk).joined(separator: ","))]}"# }

    private var jwk: String {
        let raw = Array(key.publicKey.rawRepresentation)
        let (x, y) = (Base64URL.encode(raw[..<32]), Base64URL.encode(raw[32...]))
        return #"{"kty":"EC","crv":"P-256","use":"sig","alg":"ES256","kid":"\#(id)","x":"\#(x)","y":"\#(y)"}"#
    }

    /// A token for an hour.
    func token(
        _ user: String, audience: String = "app", at now: Milliseconds = ServerAssembly.Surroundings().now()
    ) throws -> String {
        let seconds = now / 1_000
        let text =
            Base64URL.encode(#"{"alg":"ES256","typ":"JWT","kid":"\#(id)"}"#.utf8) + "."
            + Base64URL.encode(
                #"{"iss":"https://id.example","aud":"\#(audience)","sub":"\#(user)","iat":\#(seconds),"exp":\#(seconds + 3_600)}"#
                    .utf8)
        return text + "." + Base64URL.encode(try key.signature(for: Array(text.utf8)).rawRepresentation)
    }

    /// A file of issuers that publish keys on this port of the loopback address. It is deleted with the result.
    static func file(port: Int) throws -> TemporaryIssuers {
        try TemporaryIssuers(
            """
            {"issuers": [{"name": "id", "issuer": "https://id.example", "audience": "app", "algorithms": "ES256",
                "workspace": {"fixed": "w"},
                "keys": {"url": "http://127.0.0.1:\(port)/keys", "allow_addresses": ["127.0.0.1"]}}]}
            """)
    }
}

/// A file that is deleted with its owner.
final class TemporaryIssuers: Sendable {
    let path: String

    init(_ text: String) throws {
        path = FileManager.default.temporaryDirectory.appending(path: "tidemark-\(UUID()).json").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    deinit {
        // A file that remains is in the system's temporary folder.
        try? FileManager.default.removeItem(atPath: path)
    }
}
