import NIOCore
import NIOPosix

/// A TCP server that reads one HTTP head from each connection, sends a fixed answer and then ends or stays as
/// configured.
enum ScriptedServer {
    enum Ending: Sendable {
        case hangUp
        case stayOpen
    }

    /// - Parameter heard: called when a head was read.
    static func running(
        answering answer: [UInt8], then ending: Ending, heard: @escaping @Sendable () -> Void = {},
        _ body: (Int) async throws -> Void
    ) async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Script(answer: answer, ending: ending, heard: heard))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            try await body(server.localAddress?.port ?? 0)
        } catch {
            try await server.close()
            throw error
        }
        try await server.close()
    }

    private final class Script: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let answer: [UInt8]
        private let ending: Ending
        private let heard: @Sendable () -> Void
        private var received = ""

        init(answer: [UInt8], ending: Ending, heard: @escaping @Sendable () -> Void) {
            self.answer = answer
            self.ending = ending
            self.heard = heard
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let wasWhole = received.contains("\r\n\r\n")
            received += String(buffer: unwrapInboundIn(data))
            guard !wasWhole, received.contains("\r\n\r\n") else { return }
            heard()
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer)), promise: nil)
            switch ending {
            case .hangUp: context.close(promise: nil)
            case .stayOpen: break
            }
        }
    }
}
