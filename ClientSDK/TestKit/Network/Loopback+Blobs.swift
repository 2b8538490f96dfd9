import Foundation
import Tidemark
import TidemarkModel

extension Loopback {
    /// Carries one call for a blob; a token is the user's name.
    ///
    /// - Throws: `Unreachable` without a way to the server, or when the way ends before the answer is here;
    ///   `BlobAnswerTooLong`.
    func exchange(_ request: BlobRequest, from port: Int) async throws -> BlobAnswer {
        let latency = try latency(from: port)
        let answer = try await blobs.carry(from: port, latency: latency) { self.answer(request) }
        guard answer.body.count <= request.answerBytesMax else { throw BlobAnswerTooLong() }
        return answer
    }

    private func answer(_ request: BlobRequest) -> BlobAnswer {
        guard let user = UserID(checking: request.token) else {
            return BlobAnswer(status: 401, retryAfter: nil, body: Data())
        }
        guard let (digest, scope) = Self.address(request.target) else {
            return BlobAnswer(status: 400, retryAfter: nil, body: Data())
        }
        return serve { server in
            switch request.call {
            case .put(let bytes): server.put(bytes, as: digest, in: scope, by: user)
            case .get: server.blob(digest, in: scope, for: user)
            }
        }
    }

    private static func address(_ target: String) -> (BlobDigest, ScopeID)? {
        guard let components = URLComponents(string: target), components.path.hasPrefix("/v1/blobs/"),
            let digest = BlobDigest(checking: String(components.path.dropFirst("/v1/blobs/".count))),
            let scope = components.queryItems?.first(where: { $0.name == "scope" })?.value,
            let scope = ScopeID(checking: scope)
        else { return nil }
        return (digest, scope)
    }
}
