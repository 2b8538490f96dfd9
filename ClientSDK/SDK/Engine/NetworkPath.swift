#if canImport(Network)
import Dispatch
import Network
#endif

/// What the system knows of the network: a reason to try at once, never one not to try.
enum NetworkPath {
    /// True each time when the system sees a way to the network. Elsewhere than on Apple's platforms it ends at once: there
    /// the connection's own state is all that is known.
    static func values() -> AsyncStream<Bool> {
        #if canImport(Network)
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let monitor = NWPathMonitor()
            monitor.pathUpdateHandler = { continuation.yield($0.status == .satisfied) }
            continuation.onTermination = { _ in monitor.cancel() }
            monitor.start(queue: .global(qos: .utility))
        }
        #else
        AsyncStream { $0.finish() }
        #endif
    }
}
