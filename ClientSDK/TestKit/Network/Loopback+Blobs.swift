import Foundation
import Tidemark
import TidemarkHub
import TidemarkModel

extension Loopback {
    /// Carries one call for a blob; a token is the user's name.
    ///
    /// - Throws: `Unreachable` without a network, or when it ends before the answer arrives; `HTTPAnswerTooLong`.
    func exchange(_ request: HTTPCall, from port: Int) async throws -> HTTPAnswer {
        let latency = try latency(from: port)
        let answer = try await blobs.carry(from: port, latency: latency) { self.answer(request) }
        guard answer.body.count <= request.maxAnswerBytes else { throw HTTPAnswerTooLong() }
        return answer
    }

    private func answer(_ request: HTTPCall) -> HTTPAnswer {
        guard let user = UserID(checking: request.token) else { return HTTPAnswer(401) }
        guard let (digest, scope) = Self.address(request.target) else { return HTTPAnswer(400) }
        return serve { server in
            do throws(BlobRefusal) {
                switch request.call {
                case .put(let bytes):
                    return HTTPAnswer(try server.putBlob([UInt8](bytes), as: digest, in: scope, by: user) ? 201 : 200)
                case .post: return HTTPAnswer(405)
                case .get: return HTTPAnswer(200, Data(try server.getBlob(digest, in: scope, by: user)))
                }
            } catch {
                return HTTPAnswer(error.status, Data(error.message.utf8))
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

extension HTTPAnswer {
    fileprivate init(_ status: Int, _ body: Data = Data()) { self.init(status: status, retryAfter: nil, body: body) }
}
