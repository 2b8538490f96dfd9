import Foundation
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Testing

@testable import TidemarkAssembly

/// Notices to the service manager that started the server, on a real socket.
@Suite(.timeLimit(.minutes(2))) struct ServiceNoticeTests {
    private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 2)

    /// The socket of a service manager: the notices that it received, in order, up to the stop.
    private struct NoticeSocket {
        let path = "/tmp/tidemark-notice-\(UUID().uuidString.prefix(8))"
        let told: AsyncStream<String>

        init() throws {
            let (told, continuation) = AsyncStream<String>.makeStream()
            self.told = told
            let socket = try Self.bound(to: path)
            Thread.detachNewThread {
                var bytes = [UInt8](repeating: 0, count: 512)
                var isOpen = true
                while isOpen {
                    let count = recv(socket, &bytes, bytes.count, 0)
                    let words = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
                    continuation.yield(words)
                    isOpen = count > 0 && words != "STOPPING=1\n"
                }
                close(socket)
                continuation.finish()
            }
        }

        private static func bound(to path: String) throws -> Int32 {
            let address = try SocketAddress(unixDomainSocketPath: path)
            let socket = Foundation.socket(AF_UNIX, systemNumber(of: SOCK_DGRAM), 0)
            let code = address.withSockAddr { bind(socket, $0, socklen_t($1)) }
            guard socket >= 0, code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            return socket
        }

        func remove() { unlink(path) }
    }

    private func notice(_ address: ServiceNotice.Address) -> ServiceNotice {
        ServiceNotice(
            address, eventLoops: Self.loops, clock: ContinuousClock(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test func `a server notifies when it listens, while it lives, and when it stops`() async throws {
        let manager = try NoticeSocket()
        let environment = ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "2000"]
        let notice = notice(try #require(ServiceNotice.Address(environment: environment, process: 1)))
        let group = ServiceGroup(
            configuration: .init(services: [notice], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            notice.isListening()
            var told: [String] = []
            for await words in manager.told {
                told.append(words)
                if told.count == 4 { await group.triggerGracefulShutdown() }
                if words == "STOPPING=1\n" { break }
            }
            #expect(Array(told.prefix(3)) == ["READY=1\n", "WATCHDOG=1\n", "WATCHDOG=1\n"])
            try await tasks.waitForAll()
        }
        manager.remove()
    }

    @Test func `a server that stops before it listens never reports that it is ready`() async throws {
        let manager = try NoticeSocket()
        let notice = notice(
            try #require(ServiceNotice.Address(environment: ["NOTIFY_SOCKET": manager.path], process: 1)))
        let group = ServiceGroup(
            configuration: .init(services: [notice], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            await group.triggerGracefulShutdown()
            var told = manager.told.makeAsyncIterator()
            #expect(await told.next() == "STOPPING=1\n")
            try await tasks.waitForAll()
        }
        manager.remove()
    }

    @Test func `a server whose manager is gone goes on`() async throws {
        let address = ServiceNotice.Address(environment: ["NOTIFY_SOCKET": "/nowhere/at/all"], process: 1)
        let notice = notice(try #require(address))
        let group = ServiceGroup(
            configuration: .init(services: [notice], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            notice.isListening()
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    @Test func `the environment says where to send notices, and how often`() throws {
        func address(_ environment: [String: String]) -> ServiceNotice.Address? {
            ServiceNotice.Address(environment: environment, process: 7)
        }
        #expect(address([:]) == nil && address(["NOTIFY_SOCKET": ""]) == nil && address(["NOTIFY_SOCKET": "@a"]) == nil)
        let plain = ["NOTIFY_SOCKET": "/run/systemd/notify"]
        #expect(address(plain)?.aliveEvery == nil)
        func every(_ more: [String: String]) -> Duration? { address(plain.merging(more) { $1 })?.aliveEvery }
        #expect(every(["WATCHDOG_USEC": "30000000"]) == .seconds(15))
        #expect(every(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"]) == .seconds(15))
        #expect(every(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "8"]) == nil)
        for wrong in ["", "x", "0", "-5", "1"] { #expect(every(["WATCHDOG_USEC": wrong]) == nil) }
    }
}
