import Foundation
import Logging
import TidemarkModel

@testable import TidemarkIdentity

/// 2026-01-01T00:00:00Z in seconds.
let start: Int64 = 1_767_225_600

/// The claims of a good token for an hour, as JSON, with changes; an empty change removes the claim.
func claims(_ changes: [String: String] = [:]) -> String {
    var fields = [
        "iss": #""https://id.example""#, "aud": #""app""#, "sub": #""ann""#, "exp": "\(start + 3_600)",
        "iat": "\(start)",
    ]
    for (name, value) in changes { fields[name] = value.isEmpty ? nil : value }
    return "{" + fields.sorted { $0.key < $1.key }.map { #""\#($0)":\#($1)"# }.joined(separator: ",") + "}"
}

/// The issuers of a document, and a verifier at their time; nothing is fetched.
func verifier(
    _ document: String, files: [String: String] = [:], own: [TokenSecret] = [], at seconds: Int64 = start
) async throws -> TokenVerifier {
    let file = try IssuerFile(Array(document.utf8)) { files[$0].map { Array($0.utf8) } }
    var issuers = try await file.issuers()
    if !own.isEmpty { issuers.append(await .own(own)) }
    return verifier(issuers, at: seconds)
}

func verifier(_ issuers: [Issuer], at seconds: Int64 = start) -> TokenVerifier {
    let now: @Sendable () -> Milliseconds = { seconds * 1_000 }
    let keys = KeyService(for: issuers, now: now, logger: .quiet) {
        _ throws(KeyFetchError) in throw KeyFetchError("nothing is fetched")
    }
    return TokenVerifier(issuers, keys: keys, now: now)
}

/// The document of one issuer with the given keys; more members may follow.
func document(_ keys: String, _ algorithms: String, _ more: String = "") -> String {
    """
    {"issuers": [{"name": "id", "issuer": "https://id.example", "audience": "app",
        "algorithms": [\(algorithms)], "keys": \(keys)\(more)}]}
    """
}

extension TokenVerifier {
    /// The label of the verdict; `accepted` for a good token.
    func label(_ token: String) async -> String {
        switch await verify(token).outcome {
        case .accepted: "accepted"
        case .refused(let rejection): rejection.label
        case .unavailable: "unavailable"
        }
    }

    func accepted(_ token: String) async -> VerifiedToken? {
        if case .accepted(let verified) = await verify(token).outcome { verified } else { nil }
    }
}

extension Logger {
    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}
