import Testing

@testable import Tidemark

/// The connection of Apple's platforms on a scripted socket.
@Suite(.timeLimit(.minutes(5))) struct SocketConnectionTests {
    private let socket = ScriptedSocket()
    private let clock = HandClock()

    private func connection(waitingMax: Int = 128) -> SocketConnection {
        var limits = SocketLimits()
        limits.waitingMessagesMax = waitingMax
        return SocketConnection(socket, limits: limits, clock: clock)
    }

    /// Moves the time when the connection sleeps.
    private func pass(_ seconds: Int) async {
        await clock.waitForSleeper()
        clock.advance(by: .seconds(seconds))
    }

    @Test func `waiting messages are received together, and no more are read than may wait`() async throws {
        let connection = connection(waitingMax: 3)
        for byte in 1...3 as ClosedRange<UInt8> { socket.deliver(.success([byte])) }
        #expect(socket.reading == 0)
        #expect(try await connection.receiveWaiting() == [[1], [2], [3]])
        #expect(socket.reading == 1)
        socket.deliver(.success([4]))
        #expect(try await connection.receive() == [4])
    }

    @Test func `a receive that is cancelled ends, and the connection continues`() async throws {
        let connection = connection()
        let waiting = Task { try await connection.receive() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        socket.deliver(.success([1]))
        #expect(try await connection.receive() == [1])
    }

    @Test func `messages before the end are delivered before it`() async throws {
        let connection = connection()
        socket.deliver(.success([1]))
        socket.deliver(.failure(TransportClosed(code: 4401, reason: "token expired")))
        #expect(try await connection.receive() == [1])
        await #expect(throws: TransportClosed(code: 4401, reason: "token expired")) {
            try await connection.receive()
        }
    }

    @Test func `a close ends waiting receives, and the socket with its code`() async throws {
        let connection = connection()
        await connection.close(code: 1000)
        await #expect(throws: TransportClosed(code: 1000, reason: "")) { try await connection.receive() }
        #expect(socket.codes == [1000])
    }

    @Test func `a server that answers no ping is given up`() async throws {
        let connection = connection()
        var pings = socket.pinged.makeAsyncIterator()
        await pass(25)
        await pings.next()
        await pass(35)
        let end = await #expect(throws: SyncFailure.self) { try await connection.receive() }
        #expect(end?.code == .serverSilent)
        #expect(socket.codes == [SocketLimits.leaving])
    }

    @Test func `a server that answers pings is kept, however quiet`() async throws {
        let connection = connection()
        var pings = socket.pinged.makeAsyncIterator()
        await pass(25)
        await pings.next()
        for _ in 0..<3 {
            socket.answerPings()
            await pass(25)
            await pings.next()
        }
        socket.answerPings()
        #expect(socket.codes.isEmpty)
        socket.deliver(.success([1]))
        #expect(try await connection.receive() == [1])
    }

    @Test func `a connection that is released ends its socket`() async throws {
        do {
            let connection = connection()
            // From now on the alarm does not hold it.
            await clock.waitForSleeper()
            withExtendedLifetime(connection) {}
        }
        #expect(socket.codes == [SocketLimits.leaving])
    }
}
