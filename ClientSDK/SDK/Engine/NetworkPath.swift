#if canImport(Network)
import Dispatch
import Network
#endif

/// The kind of network that a connection goes over.
public enum NetworkKind: String, Hashable, Sendable, CaseIterable {
    /// A hotspot of a phone looks like any other.
    case wifi
    /// The mobile network.
    case cellular
    /// A cable.
    case wired
    /// Another kind, or one that the system does not name.
    case other
}

/// The system's view of the way to the network. It is a reason to try at once, and never one not to try: a server may be reached
/// on a way that the system does not count.
package struct NetworkPath: Hashable, Sendable {
    /// True where the system sees a way to some network.
    package var isReachable: Bool
    /// The names of the interfaces that lead there, the preferred one first.
    package var interfaces: [String]
    /// The kind of network that the way goes over; `nil` without a way, and where the system does not say.
    package var kind: NetworkKind?

    package init(isReachable: Bool, interfaces: [String] = [], kind: NetworkKind? = nil) {
        self.isReachable = isReachable
        self.interfaces = interfaces
        self.kind = kind
    }

    /// The path now and after each change. Elsewhere than on Apple's platforms it ends at once: there the connection's own state is
    /// all that is known.
    package static func ofSystem() -> AsyncStream<NetworkPath> {
        #if canImport(Network)
        AsyncStream { continuation in
            let monitor = NWPathMonitor()
            monitor.pathUpdateHandler = { path in
                continuation.yield(NetworkPath(path))
            }
            continuation.onTermination = { _ in monitor.cancel() }
            monitor.start(queue: .global(qos: .utility))
        }
        #else
        AsyncStream { $0.finish() }
        #endif
    }
}

#if canImport(Network)
extension NetworkPath {
    init(_ path: NWPath) {
        let isReachable = path.status == .satisfied
        self.init(
            isReachable: isReachable, interfaces: path.availableInterfaces.map(\.name),
            kind: isReachable ? NetworkKind(path) : nil)
    }
}

extension NetworkKind {
    /// A tunnel also uses what it goes through, which is what counts.
    fileprivate init(_ path: NWPath) {
        if path.usesInterfaceType(.wiredEthernet) {
            self = .wired
        } else if path.usesInterfaceType(.wifi) {
            self = .wifi
        } else {
            self = path.usesInterfaceType(.cellular) ? .cellular : .other
        }
    }
}
#endif

/// A change of the network path that concerns a connection.
package enum NetworkChange: Hashable, Sendable {
    /// There is no way to the network any more.
    case lost
    /// There is one again.
    case regained
    /// It is another one: what was sent over the last one may be lost.
    case changed
}

/// Finds the changes in a sequence of paths. Pure.
struct NetworkChanges: Sendable {
    private var last: NetworkPath?

    /// Takes the next path; `nil` where nothing changed that matters.
    mutating func next(_ path: NetworkPath) -> NetworkChange? {
        defer { last = path }
        switch (last?.isReachable, path.isReachable) {
        case (nil, true), (false?, false): return nil
        case (nil, false), (true?, false): return .lost
        case (false?, true): return .regained
        case (true?, true): return last?.interfaces == path.interfaces ? nil : .changed
        }
    }
}
