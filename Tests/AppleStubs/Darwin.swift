// The C library as in Apple's headers, where it differs from Linux: these declarations hide Linux's of the same name
// from code that is compiled against the stubs. Everything equal on both systems is Linux's. So is everything that
// takes only a literal, such as a file's mode, which two declarations would make ambiguous. Tests/Tidy has each name of
// this file checked wherever it is used.
@_exported import Foundation

// MARK: Types of another width or shape

public typealias sa_family_t = UInt8
public typealias nfds_t = UInt32
public typealias suseconds_t = Int32
public typealias rlim_t = UInt64

public struct _opaque_pthread_t {}
public typealias pthread_t = UnsafeMutablePointer<_opaque_pthread_t>
public typealias posix_spawn_file_actions_t = UnsafeMutableRawPointer
public typealias posix_spawnattr_t = UnsafeMutableRawPointer

public struct timeval {
    public var tv_sec: Int = 0
    public var tv_usec: suseconds_t = 0
    public init() {}
}

public struct rusage {
    public var ru_utime = timeval()
    public var ru_stime = timeval()
    public var ru_maxrss: Int = 0
    public var ru_nvcsw: Int = 0
    public var ru_nivcsw: Int = 0
    public init() {}
}

public struct rlimit {
    public var rlim_cur: rlim_t = 0
    public var rlim_max: rlim_t = 0
    public init() {}
}

public struct sockaddr_un {
    public typealias Eight = (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)
    public var sun_len: UInt8 = 0
    public var sun_family: sa_family_t = 0
    public var sun_path: (Eight, Eight, Eight, Eight, Eight, Eight, Eight, Eight, Eight, Eight, Eight, Eight, Eight)
    public init() {
        let none: Eight = (0, 0, 0, 0, 0, 0, 0, 0)
        sun_path = (none, none, none, none, none, none, none, none, none, none, none, none, none)
    }
}

public struct sockaddr_in {
    public var sin_len: UInt8 = 0
    public var sin_family: sa_family_t = 0
    public var sin_port: in_port_t = 0
    public var sin_addr = in_addr()
    public init() {}
}

// MARK: Constants of another type or value

public let SOCK_STREAM: Int32 = 1
public let SOCK_DGRAM: Int32 = 2
public let SHUT_RDWR: Int32 = 2
public let RLIMIT_NOFILE: Int32 = 8
public let RUSAGE_SELF: Int32 = 0
public let TIOCGWINSZ: UInt = 0x4008_7468
public let _SC_PAGESIZE: Int32 = 29
public let F_NOCACHE: Int32 = 48
public let F_FULLFSYNC: Int32 = 51
public let EWOULDBLOCK: Int32 = 35
public let EAGAIN: Int32 = 35

// MARK: Functions of these types

@discardableResult
public func poll(_ watched: UnsafeMutablePointer<pollfd>, _ count: nfds_t, _ milliseconds: Int32) -> Int32 { 0 }
public func getrusage(_ who: Int32, _ usage: UnsafeMutablePointer<rusage>) -> Int32 { 0 }
public func getrlimit(_ which: Int32, _ limit: UnsafeMutablePointer<rlimit>) -> Int32 { 0 }
public func setrlimit(_ which: Int32, _ limit: UnsafePointer<rlimit>) -> Int32 { 0 }
@discardableResult public func pthread_create(
    _ thread: UnsafeMutablePointer<pthread_t?>, _ attributes: UnsafePointer<pthread_attr_t>?,
    _ start: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?, _ argument: UnsafeMutableRawPointer?
) -> Int32 { 0 }
public func pthread_self() -> pthread_t { pthread_t.allocate(capacity: 1) }
@discardableResult public func pthread_kill(_ thread: pthread_t, _ signal: Int32) -> Int32 { 0 }
@discardableResult public func posix_spawn_file_actions_init(
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>
) -> Int32 { 0 }
@discardableResult public func posix_spawn_file_actions_destroy(
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>
) -> Int32 { 0 }
@discardableResult public func posix_spawn_file_actions_addopen(
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>, _ descriptor: Int32, _ path: UnsafePointer<CChar>,
    _ flags: Int32, _ mode: UInt16
) -> Int32 { 0 }
@discardableResult public func posix_spawn_file_actions_adddup2(
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>, _ descriptor: Int32, _ other: Int32
) -> Int32 { 0 }
public func posix_spawn(
    _ process: UnsafeMutablePointer<pid_t>?, _ path: UnsafePointer<CChar>,
    _ actions: UnsafePointer<posix_spawn_file_actions_t?>?, _ attributes: UnsafePointer<posix_spawnattr_t?>?,
    _ arguments: UnsafePointer<UnsafeMutablePointer<CChar>?>, _ environment: UnsafePointer<UnsafeMutablePointer<CChar>?>
) -> Int32 { 0 }

// MARK: Names that Apple's headers lack

@available(*, unavailable) public let MSG_NOSIGNAL: Int32 = 0
@available(*, unavailable) public let O_DIRECT: Int32 = 0
@available(*, unavailable) public let O_PATH: Int32 = 0
@available(*, unavailable) public let O_TMPFILE: Int32 = 0
@available(*, unavailable) public let SOCK_CLOEXEC: Int32 = 0
@available(*, unavailable) public let SOCK_NONBLOCK: Int32 = 0
@available(*, unavailable) public let SO_PEERCRED: Int32 = 0
@available(*, unavailable) public let POSIX_FADV_DONTNEED: Int32 = 0
@available(*, unavailable) public let environ: Int32 = 0
@available(*, unavailable) public func accept4() {}
@available(*, unavailable) public func dup3() {}
@available(*, unavailable) public func epoll_create1() {}
@available(*, unavailable) public func epoll_ctl() {}
@available(*, unavailable) public func epoll_wait() {}
@available(*, unavailable) public func eventfd() {}
@available(*, unavailable) public func explicit_bzero() {}
@available(*, unavailable) public func fallocate() {}
@available(*, unavailable) public func fdatasync() {}
@available(*, unavailable) public func getrandom() {}
@available(*, unavailable) public func gettid() {}
@available(*, unavailable) public func inotify_init1() {}
@available(*, unavailable) public func malloc_trim() {}
@available(*, unavailable) public func malloc_usable_size() {}
@available(*, unavailable) public func memfd_create() {}
@available(*, unavailable) public func mremap() {}
@available(*, unavailable) public func pipe2() {}
@available(*, unavailable) public func posix_fadvise() {}
@available(*, unavailable) public func posix_fallocate() {}
@available(*, unavailable) public func ppoll() {}
@available(*, unavailable) public func prctl() {}
@available(*, unavailable) public func renameat2() {}
@available(*, unavailable) public func secure_getenv() {}
@available(*, unavailable) public func sendfile() {}
@available(*, unavailable) public func signalfd() {}
@available(*, unavailable) public func splice() {}
@available(*, unavailable) public func sync_file_range() {}
@available(*, unavailable) public func syscall() {}
@available(*, unavailable) public func timerfd_create() {}
