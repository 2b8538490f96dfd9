import NIOCore
import NIOPosix
public import Tidemark

/// The transport for platforms whose URLSession has no WebSockets: SwiftNIO.
///
///     try await store.connect(to: "https://sync.example.com", transport: NIOTransport()) { try await auth.token() }
public struct NIOTransport: Transport {
    /// The most bytes of one inbound message; a longer one ends the connection.
    private let maxMessageBytes: Int
    /// PEM file of the authorities to trust instead of the system's.
    let trustRootsFile: String?

    /// - Parameter trustRootsFile: PEM file of the authorities to trust instead of the system's.
    public init(maxMessageBytes: Int = 4 * 1_048_576, trustRootsFile: String? = nil) {
        self.maxMessageBytes = maxMessageBytes
        self.trustRootsFile = trustRootsFile
    }

    /// Opens the sync socket of the server at `url`.
    ///
    /// - Throws: `ServerAddress.Malformed` for an unusable address, otherwise `SyncFailure`.
    public func connect(to url: String) async throws -> any TransportConnection {
        let address = try ServerAddress(url)
        do {
            let socket = try await NIOWebSocketClient.connect(
                host: address.host, port: address.port, path: address.path + "/v1/sync", useTLS: address.usesTLS,
                headers: [],
                maxMessageBytes: maxMessageBytes, group: MultiThreadedEventLoopGroup.singleton,
                trustRootsFile: trustRootsFile)
            return NIOTransportConnection(socket: socket)
        } catch let error as NIOTransportError {
            throw SyncFailure(opening: error)
        }
    }
}

extension SyncFailure {
    /// The reason why there is no connection.
    fileprivate init(opening error: NIOTransportError) {
        switch error.code {
        case .connectFailed, .timedOut: self.init(.unreachable, error.description)
        // The code already says it.
        case .tlsFailed: self.init(.tlsFailed, error.detail)
        case .handshakeRefused: self.init(httpStatus: error.httpStatus ?? 0, error.detail)
        case .protocolViolation, .tooLarge: self.init(.notASyncServer, error.detail)
        case .lost, .silent, .alreadyReceiving: self.init(.connectionLost, error.description)
        }
    }

    /// The reason why a connection ended.
    fileprivate init(open error: NIOTransportError) {
        switch error.code {
        case .silent: self.init(.serverSilent, error.description)
        case .tooLarge, .protocolViolation: self.init(.protocolViolation, error.description)
        case .connectFailed, .timedOut, .tlsFailed, .handshakeRefused, .lost, .alreadyReceiving:
            self.init(.connectionLost, error.description)
        }
    }
}

private final class NIOTransportConnection: TransportConnection {
    private let socket: NIOWebSocketConnection

    init(socket: NIOWebSocketConnection) { self.socket = socket }

    func send(_ message: [UInt8]) async throws { try await socket.send(message) }

    func receive() async throws -> [UInt8] { try await naming { try await socket.receive() } }

    func receiveWaiting() async throws -> [[UInt8]] { try await naming { try await socket.receiveWaiting() } }

    private func naming<Received>(_ receive: () async throws -> Received) async throws -> Received {
        do {
            return try await receive()
        } catch let closed as TransportClosed {
            throw Tidemark.TransportClosed(code: closed.code, reason: closed.reason)
        } catch let error as NIOTransportError {
            throw SyncFailure(open: error)
        }
    }

    func close(code: UInt16) async { await socket.close(code: code, reason: "") }
}
