import NIOCore
import NIOPosix
import TidemarkAssembly
import TidemarkModel

/// Where the load generator runs: its event loop, and the server that its sockets talk to.
struct LoadGround: Sendable {
    /// Sockets that are opened at the same time: below the server's bound for strangers of one address.
    static let openingAtOnce = 200
    /// For a wave of sockets to be welcomed.
    static let openingMax: TimeAmount = .seconds(60)

    /// One thread, for as long as the process lives.
    private static let thread = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    let address: ListenAddress
    let loop: any EventLoop
    private let resolved: SocketAddress

    /// - Throws: `BenchError` for a host that is not known.
    init(address: ListenAddress) throws {
        self.address = address
        loop = Self.thread.next()
        do {
            resolved = try SocketAddress.makeAddressResolvingHost(address.host, port: address.port)
        } catch {
            throw BenchError("--server: nobody knows the host \(address.host)")
        }
    }

    /// Runs `body` on the loop.
    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await loop.submit(body).get()
    }

    /// Makes an object that lives on the loop.
    func make<Value>(_ body: @escaping @Sendable () throws -> Value) async throws -> NIOLoopBound<Value> {
        let loop = loop
        return try await loop.submit { NIOLoopBound(try body(), eventLoop: loop) }.get()
    }

    /// Calls `body` on the loop with a promise that it must complete, and waits for that.
    ///
    /// - Throws: `BenchError` when it takes longer than `limit`.
    func wait<Value: Sendable>(
        for what: String, atMost limit: TimeAmount, _ body: @escaping @Sendable (EventLoopPromise<Value>) -> Void
    ) async throws -> Value {
        let loop = loop
        return try await loop.flatSubmit {
            let promise = loop.makePromise(of: Value.self)
            let deadline = loop.scheduleTask(in: limit) { promise.fail(BenchError("\(what): not within \(limit)")) }
            promise.futureResult.whenComplete { _ in deadline.cancel() }
            body(promise)
            return promise.futureResult
        }.get()
    }

    /// Waits for the wall clock.
    func pause(_ time: TimeAmount) async throws { try await loop.scheduleTask(in: time) {}.futureResult.get() }

    /// Opens a socket for `peer`. Call it on the loop.
    func open(_ peer: any LoadPeer) -> LoadSocket {
        let socket = LoadSocket(authority: address.description, peer: peer)
        socket.connect(to: resolved, on: loop)
        return socket
    }
}

/// Why a benchmark gave no figure.
struct BenchError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
