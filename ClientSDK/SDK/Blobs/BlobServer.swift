import Foundation
import TidemarkModel

/// The server's calls for blobs, over a transport (PROTOCOL.md, "Blobs").
struct BlobServer: Sendable {
    let calls: ServerCalls
    let limits: BlobLimits

    /// Sends bytes; every failure is a value, too.
    func put(_ bytes: Data, as key: BlobKey) async -> BlobUploadEnd {
        let answer: HTTPAnswer
        do {
            answer = try await exchange(.put(bytes), key, maxAnswerBytes: Self.refusalBytesMax)
        } catch is HTTPUnsupported {
            return .refused(.unsupported, "the transport carries no blobs")
        } catch is HTTPAnswerTooLong {
            return .later("the server's answer is too long", after: nil)
        } catch {
            return .later(limits.clipped("\(error)"), after: nil)
        }
        let words = limits.clipped("\(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
        return switch answer.status {
        case 200, 201: .sent
        case 404: .refused(.notThere, words)
        case 413: .refused(.tooLarge, words)
        case 507: .refused(.quota, words)
        case 400, 411, 422: .refused(.invalid, words)
        case 405, 501: .refused(.unsupported, words)
        default: .later(words, after: answer.retryMilliseconds)
        }
    }

    /// Fetches bytes and checks them.
    func get(_ key: BlobKey, bytesMax: Int) async throws(BlobError) -> Data {
        let answer: HTTPAnswer
        do {
            answer = try await exchange(.get, key, maxAnswerBytes: bytesMax)
        } catch is HTTPUnsupported {
            throw BlobError(.unsupported, "the transport carries no blobs")
        } catch is HTTPAnswerTooLong {
            throw BlobError(.tooLarge, "\(key) has more than \(bytesMax) bytes")
        } catch {
            throw BlobError(.offline, limits.clipped("\(error)"))
        }
        switch answer.status {
        case 200:
            guard answer.body.count <= bytesMax else {
                throw BlobError(.tooLarge, "\(key) has more than \(bytesMax) bytes")
            }
            guard BlobDigest(of: answer.body) == key.digest else {
                throw BlobError(.damaged, "\(key): the server sent \(answer.body.count) bytes of another digest")
            }
            return answer.body
        case 404: throw BlobError(.notThere, "\(key): the server does not have it, or the account may not read it")
        case 405, 501: throw BlobError(.unsupported, "the server has no blobs")
        default: throw BlobError(.unavailable, "\(key): the server answered \(answer.status)")
        }
    }

    /// The most bytes of a refusal that are read.
    private static let refusalBytesMax = 16 * 1_024

    private func exchange(_ call: HTTPCall.Call, _ key: BlobKey, maxAnswerBytes: Int) async throws -> HTTPAnswer {
        try await calls.exchange(call, maxAnswerBytes: maxAnswerBytes, within: limits.exchangeMax) {
            Self.target(key, from: $0)
        }
    }

    /// The path and query; in the scope, all but unreserved characters are encoded.
    static func target(_ key: BlobKey, from client: ClientID? = nil) -> String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        let scope = key.scope.text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
        return "/v1/blobs/\(key.digest)?scope=\(scope)\(client.map { "&client=\($0)" } ?? "")"
    }
}

extension HTTPAnswer {
    /// The wait that the server asks for; `nil` for none and for a date: servers of this protocol send seconds.
    fileprivate var retryMilliseconds: Int64? {
        guard let seconds = retryAfter.flatMap({ Int64($0) }), seconds >= 0, seconds < 1 << 40 else { return nil }
        return seconds * 1_000
    }
}

extension BlobLimits {
    fileprivate func clipped(_ text: String) -> String { String(text.prefix(errorLengthMax)) }
}
