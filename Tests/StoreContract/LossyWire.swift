import Foundation
import TidemarkAssembly
import TidemarkLock

/// A Unix socket in front of a PostgreSQL server that loses one request or one answer on command.
///
/// Greetings are neither lost nor counted: a pool may open its last connections at any time.
final class LossyWire: Sendable {
    enum Fault {
        /// The next bytes from the client do not arrive; the connection breaks.
        case request
        /// The next bytes from the client arrive and are served; the connection breaks instead of the answer.
        case answer
    }

    private struct State {
        var fault: Fault?
        /// The number of requests that still pass before it.
        var passing = 0
        var faultCount = 0
        var answerCount = 0
        /// The sockets, kept to the end, so that none of their numbers is reused meanwhile.
        var links: [Link] = []
        var hasEnded = false
    }

    private let state = Lock(State())
    private let listener: CInt
    private let folder: URL

    /// Listens as port 5432 of `folder`, which is created.
    ///
    /// - Parameter target: host and port of the server in libpq's keyword form.
    init(in folder: URL, to target: String) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.folder = folder
        let values = Dictionary(
            target.split(separator: " ").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
                .filter { $0.count == 2 }.map { ($0[0], $0[1]) }, uniquingKeysWith: { $1 })
        // A connection closed by the other end must be an error of the write, not the end of the tests.
        signal(SIGPIPE, SIG_IGN)
        let (host, port) = (values["host"] ?? "/var/run/postgresql", values["port"] ?? "5432")
        listener = socket(AF_UNIX, Self.stream, 0)
        let isListening = Self.withAddress(folder.appendingPathComponent(".s.PGSQL.5432").path) {
            bind(listener, $0, $1) == 0 && listen(listener, 16) == 0
        }
        guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
        Thread.detachNewThread { [self] in acceptAll(host, port) }
    }

    /// Breaks the connection of the next bytes, or of those after so many requests.
    func fail(next fault: Fault, after passing: Int = 0) {
        state.withLock { state in
            state.fault = fault
            state.passing = passing
        }
    }

    /// The number of connections broken so far.
    var faultCount: Int { state.withLock { $0.faultCount } }

    /// The number of round trips that the server has answered.
    var answerCount: Int { state.withLock { $0.answerCount } }

    /// Breaks all connections.
    func end() {
        let links = state.withLock { state in
            state.hasEnded = true
            defer { state.links = [] }
            return state.links
        }
        for link in links { link.shutDown() }
        // Wakes the thread that accepts.
        shutdown(listener, CInt(SHUT_RDWR))
        // The folder is a temporary one; its remains do no harm.
        try? FileManager.default.removeItem(at: folder)
    }

    private func acceptAll(_ host: String, _ port: String) {
        while case let client = accept(listener, nil, nil), client >= 0 {
            let link = Link(client: client, server: Self.connected(host, port))
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.links.append(link) }
                return state.hasEnded
            }
            if hasEnded { break }
            Thread.detachNewThread { self.pumpRequests(link) }
            Thread.detachNewThread { self.pumpAnswers(link) }
        }
        close(listener)
    }

    private func pumpRequests(_ link: Link) {
        while let bytes = Self.receive(link.client) {
            let fault = link.isGreeted.current ? takeFault() : nil
            if fault == .request { break }
            if fault == .answer { link.losesAnswer.set(true) }
            guard Self.deliver(bytes, to: link.server) else { break }
        }
        link.shutDown()
    }

    private func takeFault() -> Fault? {
        state.withLock { state in
            guard state.fault == nil || state.passing == 0 else {
                state.passing -= 1
                return nil
            }
            defer { state.fault = nil }
            if state.fault != nil { state.faultCount += 1 }
            return state.fault
        }
    }

    private func pumpAnswers(_ link: Link) {
        // A greeting and each round trip end with `ReadyForQuery`: its type, its length, and the state of the
        // transaction.
        let ready: [UInt8] = [UInt8(ascii: "Z"), 0, 0, 0, 5]
        while let bytes = Self.receive(link.server) {
            let isReady = bytes.count >= 6 && Array(bytes.suffix(6).dropLast()) == ready
            let isGreeted = isReady && link.isGreeted.exchange(true)
            if isGreeted { state.withLock { $0.answerCount += 1 } }
            if link.losesAnswer.current {
                if isReady { break }
            } else if !Self.deliver(bytes, to: link.client) {
                break
            }
        }
        link.shutDown()
    }

    private final class Link: Sendable {
        let client: CInt
        let server: CInt
        let isGreeted = Lock(false)
        let losesAnswer = Lock(false)

        init(client: CInt, server: CInt) {
            self.client = client
            self.server = server
        }

        deinit {
            close(client)
            close(server)
        }

        func shutDown() {
            for socket in [client, server] { shutdown(socket, CInt(SHUT_RDWR)) }
        }
    }
}

extension LossyWire {
    private static let stream = systemNumber(of: SOCK_STREAM)

    private static func connected(_ host: String, _ port: String) -> CInt {
        if host.hasPrefix("/") {
            let server = socket(AF_UNIX, stream, 0)
            _ = withAddress("\(host)/.s.PGSQL.\(port)") { connect(server, $0, $1) }
            return server
        }
        let server = socket(AF_INET, stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port) ?? 5432).bigEndian
        address.sin_addr.s_addr = inet_addr(host == "localhost" ? "127.0.0.1" : host)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return server
    }

    private static func withAddress<R>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private static func receive(_ socket: CInt) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(socket, &bytes, bytes.count)
        return count > 0 ? Array(bytes.prefix(count)) : nil
    }

    private static func deliver(_ bytes: [UInt8], to socket: CInt) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(socket, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
