package import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket

/// Opens WebSockets on platforms whose URLSession cannot.
package struct NIOWebSocketClient: Sendable {
    private enum Outcome: Sendable {
        case connected(NIOWebSocketConnection)
        case wrongSubprotocol
        case refused(EventLoopFuture<NIOHTTPAnswer>)
    }

    /// Connects and completes the handshake.
    ///
    /// - Parameters:
    ///   - path: the path with its leading slash.
    ///   - headers: fields for the handshake, such as `Authorization`.
    ///   - maxMessageBytes: the limit for messages; a longer one ends the connection with 1009.
    ///   - subprotocol: the offered subprotocol; the server must choose it.
    ///   - trustRootsFile: PEM file of the authorities to trust instead of the system's.
    /// - Throws: ``NIOTransportError``; for a refused handshake it has the HTTP status. `CancellationError`.
    package static func connect(
        host: String, port: Int, path: String, useTLS: Bool, headers: [(String, String)], maxMessageBytes: Int,
        group: any EventLoopGroup, subprotocol: String = "tidemark.1.json", trustRootsFile: String? = nil,
        limits: NIOTransportLimits = NIOTransportLimits()
    ) async throws -> NIOWebSocketConnection {
        let dialer = try Dialer(
            host: host, port: port, useTLS: useTLS, trustRootsFile: trustRootsFile, timeout: limits.connectTimeout,
            group: group)
        var fields = HTTPHeaders(headers)
        fields.replaceOrAdd(name: "Host", value: dialer.authority)
        fields.replaceOrAdd(name: "Sec-WebSocket-Protocol", value: subprotocol)
        let request = HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: fields)
        let (channel, outcome) = try await dialer.connect { channel in
            (channel, try upgrade(channel, request, subprotocol, maxMessageBytes, limits))
        }
        return try await withTaskCancellationHandler {
            do {
                return try await connection(from: bounded(outcome, of: channel, by: limits.connectTimeout))
            } catch {
                try Task.checkCancellation()
                throw error
            }
        } onCancel: {
            channel.close(promise: nil)
        }
    }

    private static func connection(from future: EventLoopFuture<Outcome>) async throws -> NIOWebSocketConnection {
        let outcome: Outcome
        do {
            outcome = try await future.get()
        } catch let error as NIOTransportError {
            throw error
        } catch let error where error is NIOSSLError || error is NIOSSLExtraError || error is BoringSSLError {
            throw NIOTransportError(.tlsFailed, TLSWords.of(error))
        } catch let error where error is HTTPParserError {
            throw NIOTransportError(.protocolViolation, "the server does not speak HTTP: \(error)")
        } catch {
            throw NIOTransportError(.connectFailed, "the handshake did not complete: \(error)")
        }
        switch outcome {
        case .connected(let connection):
            try Task.checkCancellation()
            return connection
        case .wrongSubprotocol:
            throw NIOTransportError(.protocolViolation, "the server chose another subprotocol")
        case .refused(let answer):
            let answer = try await answer.get()
            let text = String(decoding: answer.body, as: UTF8.self)
            throw NIOTransportError(.handshakeRefused, text, httpStatus: answer.status)
        }
    }

    private static func upgrade(
        _ channel: any Channel, _ request: HTTPRequestHead, _ subprotocol: String, _ maxMessageBytes: Int,
        _ limits: NIOTransportLimits
    ) throws -> EventLoopFuture<Outcome> {
        let upgrader = NIOTypedWebSocketClientUpgrader<Outcome>(
            maxFrameSize: min(maxMessageBytes, Int(UInt32.max)), enableAutomaticErrorHandling: false
        ) { channel, answer in
            channel.eventLoop.makeCompletedFuture {
                guard answer.headers["Sec-WebSocket-Protocol"] == [subprotocol] else {
                    channel.close(promise: nil)
                    return .wrongSubprotocol
                }
                let handler = ClientSocketHandler(messageBytesMax: maxMessageBytes, limits: limits)
                try channel.pipeline.syncOperations.addHandler(handler)
                return .connected(NIOWebSocketConnection(channel: channel, handler: handler))
            }
        }
        let configuration = NIOTypedHTTPClientUpgradeConfiguration<Outcome>(
            upgradeRequestHead: request, upgraders: [upgrader],
            notUpgradingCompletionHandler: { channel in
                channel.eventLoop.makeCompletedFuture {
                    let promise = channel.eventLoop.makePromise(of: NIOHTTPAnswer.self)
                    let collector = AnswerCollector(
                        bodyBytesMax: limits.refusalBytesMax, timeout: limits.connectTimeout, promise: promise)
                    try channel.pipeline.syncOperations.addHandler(collector)
                    return .refused(promise.futureResult)
                }
            })
        return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
            configuration: .init(upgradeConfiguration: configuration))
    }

    /// Returns the outcome, or `timedOut`: the first of them completes the promise, the other is ignored.
    private static func bounded(
        _ outcome: EventLoopFuture<Outcome>, of channel: any Channel, by timeout: Duration
    ) -> EventLoopFuture<Outcome> {
        let promise = channel.eventLoop.makePromise(of: Outcome.self)
        let deadline = channel.eventLoop.scheduleTask(in: TimeAmount(timeout)) {
            promise.fail(NIOTransportError(.timedOut, "no handshake within \(timeout)"))
            channel.close(promise: nil)
        }
        outcome.whenComplete { _ in deadline.cancel() }
        outcome.cascade(to: promise)
        return promise.futureResult
    }
}
