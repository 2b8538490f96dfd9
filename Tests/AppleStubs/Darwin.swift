// The C library as the files of this repository use it, with the types and values of Apple's headers.
public typealias mode_t = UInt16

public let LOCK_EX: Int32 = 0x02
public let LOCK_NB: Int32 = 0x04
public let O_RDWR: Int32 = 0x0002
public let O_CREAT: Int32 = 0x0000_0200
public let O_CLOEXEC: Int32 = 0x0100_0000
public let F_NOCACHE: Int32 = 48
public let EWOULDBLOCK: Int32 = 35

public var errno: Int32 {
    get { 0 }
    set {}
}

public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 { 0 }
@discardableResult public func close(_ descriptor: Int32) -> Int32 { 0 }
public func flock(_ descriptor: Int32, _ operation: Int32) -> Int32 { 0 }
public func fchmod(_ descriptor: Int32, _ mode: mode_t) -> Int32 { 0 }
public func strerror(_ code: Int32) -> UnsafeMutablePointer<CChar>! { nil }
public func fcntl(_ descriptor: Int32, _ command: Int32, _ value: Int32) -> Int32 { 0 }
