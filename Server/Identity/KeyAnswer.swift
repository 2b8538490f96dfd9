import NIOCore
import NIOHTTP1
import TidemarkLock

/// The whole answer of an endpoint for keys.
struct KeyAnswer: Sendable {
    var fields: HTTPHeaders
    var body: [UInt8]
}

/// Collects one answer within its bound. Every status but 200 is a failure: redirects are not followed.
final class KeyAnswerCollector: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let promise: EventLoopPromise<KeyAnswer>
    private var answer: KeyAnswer?
    private let takesAnySuccess: Bool

    init(_ promise: EventLoopPromise<KeyAnswer>, takesAnySuccess: Bool = false) {
        self.promise = promise
        self.takesAnySuccess = takesAnySuccess
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard head.status == .ok || takesAnySuccess && (200..<300).contains(head.status.code) else {
                return fail("status \(head.status.code); redirects are not followed", context)
            }
            answer = KeyAnswer(fields: head.headers, body: [])
        case .body(let part):
            guard let answer, answer.body.count + part.readableBytes <= KeyFetch.bytesMax else {
                return fail("more than \(KeyFetch.bytesMax) bytes", context)
            }
            self.answer?.body += part.readableBytesView
        case .end:
            if let answer { promise.succeed(answer) }
            context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { fail("\(error)", context) }

    func handlerRemoved(context: ChannelHandlerContext) {
        promise.fail(KeyFetchError("the connection ended before the answer did"))
    }

    private func fail(_ reason: String, _ context: ChannelHandlerContext) {
        answer = nil
        promise.fail(KeyFetchError(reason))
        context.close(promise: nil)
    }
}

/// The connection of one fetch, which is closed with it, even if it is established later.
final class FetchChannels: Sendable {
    private let state = Lock((channels: [any Channel](), isClosed: false))

    func add(_ channel: any Channel) {
        let isClosed = state.withLock { state in
            state.channels.append(channel)
            return state.isClosed
        }
        if isClosed { channel.close(promise: nil) }
    }

    func close() {
        let channels = state.withLock { state in
            state.isClosed = true
            return state.channels
        }
        for channel in channels { channel.close(promise: nil) }
    }
}

/// The time for which an answer may be kept (RFC 9111 §5.2).
enum Freshness {
    /// Returns the time; `nil` if the answer does not state one.
    static func milliseconds(_ fields: HTTPHeaders) -> Int64? {
        let directives = fields[canonicalForm: "cache-control"].map { $0.lowercased() }
        if directives.contains(where: { $0 == "no-store" || $0 == "no-cache" }) { return 0 }
        guard let directive = directives.first(where: { $0.hasPrefix("max-age=") }),
            let seconds = Int64(directive.dropFirst(8)), seconds >= 0
        else { return nil }
        let age = fields.first(name: "age").flatMap { Int64($0) } ?? 0
        // A year is more than any bound on it.
        return (min(seconds, 31_536_000) - min(max(age, 0), min(seconds, 31_536_000))) * 1_000
    }
}
