import Dispatch

public struct NWPath: Sendable {
    public enum Status: Sendable {
        case satisfied
        case unsatisfied
        case requiresConnection
    }

    public let status: Status
    public let availableInterfaces: [NWInterface]

    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool { false }
}

public struct NWInterface: Sendable {
    public enum InterfaceType: Sendable {
        case other
        case wifi
        case cellular
        case wiredEthernet
        case loopback
    }

    public let name: String
}

public final class NWPathMonitor: @unchecked Sendable {
    public init() {}

    @preconcurrency public var pathUpdateHandler: (@Sendable (NWPath) -> Void)?

    public func start(queue: DispatchQueue) {}
    public func cancel() {}
}
