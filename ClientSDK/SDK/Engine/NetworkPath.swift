#if canImport(Network)
import Dispatch
import Network
#endif

/// The kind of network that a connection goes over.
public enum NetworkKind: String, Hashable, Sendable, CaseIterable {
    /// Wi-Fi, including the hotspot of a phone, which looks the same.
    case wifi
    /// The mobile network.
    case cellular
    /// A cable.
    case wired
    /// Another kind, or one that the system does not name.
    case other
}

/// The system's view of the route to the network. It is a reason to try at once, and never a reason not to try: a
/// server may be reachable on a route that the system does not know.
package struct NetworkPath: Hashable, Sendable {
    /// True when the system sees a route to some network.
    package var isReachable: Bool
    /// The names of the interfaces on the route, the preferred one first.
    package var interfaces: [String]
    /// The kind of network of the route; `nil` without a route, and where the system does not name it.
    package var kind: NetworkKind?

    package init(isReachable: Bool, interfaces: [String] = [], kind: NetworkKind? = nil) {
        self.isReachable = isReachable
        self.interfaces = interfaces
        self.kind = kind
    }

    /// The path now and after each change. On other platforms than Apple's the sequence ends at once: there only the
    /// connection's own state is known.
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
    /// Names the network below a tunnel: its path also uses that interface, and only that one matters.
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

/// A change of the network path that affects a connection.
package enum NetworkChange: Hashable, Sendable {
    /// There is no route to the network any more.
    case lost
    /// There is a route again.
    case regained
    /// The route has changed: what was sent over the last one may be lost.
    case changed
}

/// Finds the changes in a sequence of paths. Pure.
struct NetworkChanges: Sendable {
    private var last: NetworkPath?

    /// Takes the next path; returns `nil` when nothing relevant changed.
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
