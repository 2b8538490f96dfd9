import NIOCore
import NIOPosix

/// A TCP server that reads one HTTP head from each connection, sends a fixed answer and then does as it is told.
enum ScriptedServer {
    enum Ending: Sendable {
        case hangUp
        case stayOpen
    }

    static func running(
        answering answer: [UInt8], then ending: Ending, _ body: (Int) async throws -> Void
    ) async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Script(answer: answer, ending: ending))
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
        private var received = ""

        init(answer: [UInt8], ending: Ending) {
            self.answer = answer
            self.ending = ending
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let wasWhole = received.contains("\r\n\r\n")
            received += String(buffer: unwrapInboundIn(data))
            guard !wasWhole, received.contains("\r\n\r\n") else { return }
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer)), promise: nil)
            switch ending {
            case .hangUp: context.close(promise: nil)
            case .stayOpen: break
            }
        }
    }
}
