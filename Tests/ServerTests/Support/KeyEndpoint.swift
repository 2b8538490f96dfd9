import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import TidemarkLock

/// An endpoint for keys on the loopback address: it gives the answer that a test sets, and counts requests.
final class KeyEndpoint: Sendable {
    struct Answer: Sendable {
        var status = 200
        var body: String
        var cacheControl: String?
        var location: String?
        /// True when no answer is sent.
        var isSilent = false
    }

    private struct State {
        var answer: Answer
        var requests = 0
    }

    private let state: Lock<State>

    private init(_ answer: Answer) { state = Lock(State(answer: answer)) }

    var answer: Answer {
        get { state.withLock { $0.answer } }
        set { state.withLock { $0.answer = newValue } }
    }
    var requests: Int { state.withLock { $0.requests } }

    private func next() -> Answer {
        state.withLock { state in
            state.requests += 1
            return state.answer
        }
    }

    /// Runs `body` with the endpoint and its port.
    static func running(_ answer: Answer, _ body: @Sendable (KeyEndpoint, Int) async throws -> Void) async throws {
        let endpoint = KeyEndpoint(answer)
        let router = Router()
        router.get("/keys") { _, _ -> Response in
            let answer = endpoint.next()
            if answer.isSilent { try await gracefulShutdown() }
            var fields: HTTPFields = [.contentType: "application/json"]
            if let value = answer.cacheControl { fields[.cacheControl] = value }
            if let value = answer.location { fields[.location] = value }
            return Response(
                status: .init(code: answer.status), headers: fields,
                body: .init(byteBuffer: ByteBuffer(string: answer.body)))
        }
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in listening.yield(channel.localAddress?.port ?? 0) },
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), logger: logger)
        let services = ServiceGroup(configuration: .init(services: [application], logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { listening.finish() }
                try await services.run()
            }
            for await port in ports {
                try await body(endpoint, port)
                break
            }
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
        }
    }
}
