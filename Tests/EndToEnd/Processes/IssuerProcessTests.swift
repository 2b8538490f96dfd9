import Crypto
import CryptoExtras
import Foundation
import NIOPosix
import Testing
import TidemarkModel
import TidemarkNIOTransport

@testable import TidemarkAssembly
@testable import TidemarkCommandLine
@testable import TidemarkTerminal

/// The program with an issuer and no secret of its own, and tokens that are signed by RSA keys.
@Suite(.timeLimit(.minutes(5))) struct IssuerProcessTests {
    private let key: _RSA.Signing.PrivateKey
    private let folder: TemporaryFolder
    private var settings: ServerProcess.Settings

    init() throws {
        key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        folder = try TemporaryFolder("tidemark-tests")
        let members = try key.publicKey.getKeyPrimitives()
        let (modulus, exponent) = (Base64URL.encode(members.modulus), Base64URL.encode(members.publicExponent))
        try """
        {"issuers": [{"preset": "firebase", "project": "my-app", "workspace": {"fixed": "acme"}, "keys": {"jwks":
            {"keys": [{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "g1", "n": "\(modulus)", "e": "\(exponent)"}]}}}]}
        """.write(toFile: "\(folder.path)/issuers.json", atomically: true, encoding: .utf8)
        settings = ServerProcess.Settings(
            database: "sqlite:\(folder.path)/server.sqlite", schema: try ServerProcess.chatSchema(in: folder.path),
            secret: "")
        settings.program = try Binary.path
        settings.environment = ["TIDEMARK_ISSUERS": "\(folder.path)/issuers.json"]
    }

    private func token(
        header: String = #"{"alg":"RS256","kid":"g1","typ":"JWT"}"#, audience: String = "my-app", lives: Int64 = 3_600
    ) throws -> String {
        let now = wallClock() / 1_000
        let issuer = "https://securetoken.google.com/my-app"
        let claims = #"{"iss":"\#(issuer)","aud":"\#(audience)","sub":"uid1","iat":\#(now),"exp":\#(now + lives)}"#
        let text = Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims.utf8)
        let signature = try key.signature(for: SHA256.hash(data: Array(text.utf8)), padding: .insecurePKCS1v1_5)
        return text + "." + Base64URL.encode(signature.rawRepresentation)
    }

    private func pull(_ server: ServerProcess, _ token: String, cursor: String? = nil) async throws -> NIOHTTPAnswer {
        let body = #"{"scopes":[]\#(cursor.map { #","cursor":"\#($0)""# } ?? "")}"#
        return try await NIOHTTPClient.request(
            method: "POST", host: "127.0.0.1", port: server.address.port, path: "/v1/pull", useTLS: false,
            headers: [("Authorization", "Bearer \(token)")], body: Array(body.utf8),
            group: MultiThreadedEventLoopGroup.singleton)
    }

    private func member(_ name: String, of answer: NIOHTTPAnswer) throws -> String? {
        guard case .string(let text)? = try JSONReader.read(answer.body, { try $0.fields() })[name] else { return nil }
        return text
    }

    @Test func `a token signed with RSA is accepted, sixty bad ones are not, and each is explained`() async throws {
        let server = try await ServerProcess.start(settings)
        #expect(try await pull(server, try token()).status == 200)
        let good = try token()
        var bad: [String] = []
        for number in 0..<15 {
            bad.append(try token(audience: "app-\(number)"))
            bad.append(try token(header: #"{"alg":"RS256","kid":"k\#(number)"}"#))
            bad.append(try token(lives: 90_000 + Int64(number)))
            bad.append(String(good.dropLast(8 + number)) + String(repeating: "A", count: 8 + number))
        }
        var labels: [String: Int] = [:]
        for token in bad {
            let answer = try await pull(server, token)
            #expect(answer.status == 401)
            let told = try await Binary.run(["token", "explain", "--issuers", "\(folder.path)/issuers.json", token])
            #expect(told.status == 1, "\(told.text)")
            let line = told.text.split(separator: "\n").last { $0.hasPrefix("refused: ") } ?? ""
            labels[String(line.split(separator: " ").dropFirst().first ?? ""), default: 0] += 1
        }
        #expect(
            labels == ["wrong_audience:": 15, "unknown_key:": 15, "lifetime_too_long:": 15, "bad_signature:": 15])
        #expect(try await server.stop() == 0)
    }

    @Test func `without a secret a key for cursors is made once, readable only by the server, and found again`()
        async throws
    {
        let server = try await ServerProcess.start(settings)
        let cursor = try #require(try member("cur", of: try await pull(server, try token())))
        await server.kill()
        let file = "\(folder.path)/server.cursor_key"
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let again = try await ServerProcess.start(settings)
        #expect(try member("state", of: try await pull(again, try token(), cursor: cursor)) == "ok")
        #expect(try await again.stop() == 0)
        try FileManager.default.removeItem(atPath: file)
        let other = try await ServerProcess.start(settings)
        #expect(try member("state", of: try await pull(other, try token(), cursor: cursor)) == "resync")
        #expect(try await other.stop() == 0)
    }
}
