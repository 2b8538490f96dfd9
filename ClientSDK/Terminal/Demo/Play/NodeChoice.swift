import Tidemark
import TidemarkLock

/// Connects to one of several servers: the one that answered last, or after a failure the next.
final class NodeChoice: Transport {
    private let urls: [String]
    private let inner: any Transport
    private let current: Lock<Int>

    /// - Parameter first: the index of the server to begin with.
    init(_ urls: [String], first: Int, over inner: any Transport) {
        self.urls = urls
        self.inner = inner
        current = Lock(urls.isEmpty ? 0 : first % urls.count)
    }

    func connect(to url: String) async throws -> any TransportConnection {
        let index = current.current
        do {
            return try await inner.connect(to: urls[index])
        } catch {
            current.set((index + 1) % urls.count)
            throw error
        }
    }
}
