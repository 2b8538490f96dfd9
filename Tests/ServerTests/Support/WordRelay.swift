import TidemarkLock
import TidemarkModel
import TidemarkNode

/// Messages between the nodes of a test.
final class WordRelay: Sendable {
    private let ends = Lock<[UInt64: AsyncStream<String>.Continuation]>([:])

    struct End: NodeRelay {
        let relay: WordRelay
        let id: UInt64
        let stream: AsyncStream<String>

        func tell(_ word: String) {
            relay.ends.withLock { ends in
                for (id, end) in ends where id != self.id { end.yield(word) }
            }
        }

        func words() -> AsyncStream<String> { stream }
    }

    func end(_ id: UInt64) -> End {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        ends.withLock { $0[id] = continuation }
        return End(relay: self, id: id, stream: stream)
    }
}
