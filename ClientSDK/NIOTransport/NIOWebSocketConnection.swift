import NIOCore
import NIOWebSocket
import Tidemark
import TidemarkLock

/// An open WebSocket to a Tidemark server. Any task may send and close; only one at a time may receive.
///
/// It answers pings by itself and detects a silent server. When the last reference is released, the connection is cut.
package final class NIOWebSocketConnection: Sendable {
    private let channel: any Channel
    private let handler: NIOLoopBound<ClientSocketHandler>
    private let machine: Lock<SocketMachine<ClientSocketHandler.Waiter>>
    private let lastReceive = Lock<UInt64>(0)

    /// - Parameter handler: the channel's last handler; on the channel's event loop.
    init(channel: any Channel, handler: ClientSocketHandler) {
        self.channel = channel
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        machine = handler.machine
    }

    deinit { channel.close(promise: nil) }

    /// Sends one text message and returns when the kernel has accepted it: a slow server slows the caller down.
    ///
    /// - Parameter bytes: UTF-8.
    /// - Throws: ``NIOTransportError`` with `lost` when the connection is closed; ``receive()`` throws the reason.
    package func send(_ bytes: [UInt8]) async throws {
        let frame = WebSocketFrame(fin: true, opcode: .text, maskKey: .random(), data: ByteBuffer(bytes: bytes))
        do {
            try await channel.writeAndFlush(frame).get()
        } catch {
            throw NIOTransportError(.lost, "\(error)")
        }
    }

    /// Returns the next text message. Without a caller, at most ``NIOTransportLimits/waitingMessagesMax`` messages are
    /// read ahead.
    ///
    /// - Throws: ``TransportClosed`` when either side has sent a close frame and the messages before it are taken,
    ///   ``NIOTransportError`` for any other end, `CancellationError` when the task is cancelled (the connection stays
    ///   open).
    package func receive() async throws -> [UInt8] { try await receive(atMost: 1)[0] }

    /// Returns the next text message with all that wait after it.
    package func receiveWaiting() async throws -> [[UInt8]] { try await receive(atMost: .max) }

    private func receive(atMost most: Int) async throws -> [[UInt8]] {
        let id = lastReceive.add(1)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if machine.take(id, atMost: most, continuation) {
                    channel.eventLoop.execute { [handler] in handler.value.resumeReading() }
                }
                // The cancellation handler may have run before this wait began, and found nothing to cancel.
                if Task.isCancelled { machine.cancelTake(id) }
            }
        } onCancel: {
            machine.cancelTake(id)
        }
    }

    /// Sends a close frame and returns when the connection has ended, at the latest after
    /// ``NIOTransportLimits/closeDeadline``. Messages that were not received are dropped unless they were read ahead.
    ///
    /// - Parameters:
    ///   - code: 1000, 1001 or a code of the application from 4000.
    ///   - reason: at most 123 bytes of UTF-8; a longer one is cut.
    package func close(code: UInt16, reason: String) async {
        channel.eventLoop.execute { [handler] in handler.value.close(code: code, reason: reason) }
        // This future never fails: it ends with the channel.
        try? await channel.closeFuture.get()
    }
}
