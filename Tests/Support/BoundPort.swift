import NIOCore

/// The port on which a server listens, known once it does: for port 0, where the kernel chooses.
struct BoundPort: Sendable {
    private let ports: AsyncStream<Int>
    private let continuation: AsyncStream<Int>.Continuation

    /// Makes a port that is not known yet.
    init() {
        (ports, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The argument for `Application(onServerRunning:)`.
    var onServerRunning: @Sendable (any Channel) async -> Void {
        { channel in
            if let port = channel.localAddress?.port { continuation.yield(port) }
            continuation.finish()
        }
    }

    /// Ends the wait of ``value()`` if the server could not start. Has no effect later.
    func abandon() { continuation.finish() }

    /// Waits for the server to listen. Call it once.
    /// - Returns: `nil` after ``abandon()``, or when the task is cancelled.
    func value() async -> Int? {
        for await port in ports { return port }
        return nil
    }
}
