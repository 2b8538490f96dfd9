import Foundation
import NIOPosix
import Testing
import TidemarkNIOTransport
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkTerminal

/// A server process whose log is written to a pipe that nothing reads, and signals that must not end a server.
@Suite(.timeLimit(.minutes(5))) struct LogPipeTests {
    /// A server whose standard error is a pipe that only the test can read.
    private final class Muted {
        let child: ChildProcess
        let folder: TemporaryFolder
        let server: String
        private var reading: Int32

        /// The test makes the pipe, and the shell gives its end to the server: the test reads only the server's
        /// standard output from the child.
        init(_ options: [String] = []) async throws {
            folder = try TemporaryFolder("tidemark-muted")
            let pipe = "\(folder.path)/log"
            try #require(mkfifo(pipe, 0o600) == 0)
            // Opened for both directions, so that neither end waits for the other.
            reading = open(pipe, O_RDWR | O_CLOEXEC)
            try #require(reading >= 0)
            child = try Self.started(in: folder, at: "127.0.0.1:0", options, log: pipe)
            var address: ListenAddress?
            for await line in child.lines {
                address = ListenAddress(announcedIn: line)
                if address != nil { break }
            }
            server = try #require(address).url
        }

        private static func started(
            in folder: TemporaryFolder, at address: String, _ options: [String] = [], log pipe: String
        ) throws -> ChildProcess {
            let words = [
                try Binary.path, "serve", "--dev", "--listen", address, "--database",
                "sqlite:\(folder.path)/t.sqlite", "--log-level", "trace",
            ]
            let line = (words + options).map { "'\($0)'" }.joined(separator: " ")
            return try ChildProcess("/bin/sh", ["-c", "exec \(line) 2> '\(pipe)'"])
        }

        /// Starts another server with a database of its own at the same address: it fails. Its log is written to the
        /// same pipe.
        func another(in other: TemporaryFolder) throws -> ChildProcess {
            let address = try #require(ListenAddress(announcedIn: server))
            return try Self.started(in: other, at: address.description, log: "\(folder.path)/log")
        }

        /// The port of the operators' listener, from the log.
        func operatorsPort() throws -> Int {
            var text = ""
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(reading, &buffer, buffer.count)
                try #require(count > 0)
                text += String(decoding: buffer[..<count], as: UTF8.self)
                // The last line may be incomplete.
                for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                where line.contains("Operators are listened to") {
                    let port = try #require(line.components(separatedBy: "127.0.0.1:").last)
                    return try #require(Int(port.prefix { $0.isNumber }))
                }
            }
        }

        /// Closes the pipe: it can no longer be read.
        func leave() {
            close(reading)
            reading = -1
        }

        /// Fills the pipe, so that no line fits.
        func fill() {
            _ = fcntl(reading, F_SETFL, O_RDWR | O_NONBLOCK)
            let page = [UInt8](repeating: UInt8(ascii: "x"), count: 4_096)
            while write(reading, page, page.count) > 0 {}
            while write(reading, page, 1) > 0 {}
        }

        deinit {
            child.signal(SIGKILL)
            close(reading)
        }
    }

    private func status(_ path: String, at server: String) async throws -> Int {
        let address = try #require(ListenAddress(announcedIn: server))
        return try await answer(path, address.host, address.port).status
    }

    private func answer(_ path: String, _ host: String, _ port: Int) async throws -> NIOHTTPAnswer {
        try await withTimeout(.seconds(20), "\(path) was not answered") {
            try await NIOHTTPClient.request(
                method: "GET", host: host, port: port, path: path, useTLS: false,
                headers: [("Authorization", "Bearer wrong")], body: [], group: MultiThreadedEventLoopGroup.singleton)
        }
    }

    @Test func `an unread pipe stops neither calls nor the end`() async throws {
        let muted = try await Muted()
        muted.fill()
        // Each of the first calls writes a line of the security log.
        for _ in 0..<100 { #expect(try await status("/v1/clients", at: muted.server) == 401) }
        #expect(try await status("/healthz", at: muted.server) == 200)
        #expect(try await status("/readyz", at: muted.server) == 200)
        muted.child.signal(SIGTERM)
        let code = try await withTimeout(.seconds(20), "SIGTERM did not end the server") { [child = muted.child] in
            await child.ended()
        }
        #expect(code == 0)
    }

    @Test func `a server that fails ends, though its log is not read`() async throws {
        let muted = try await Muted()
        muted.fill()
        let folder = try TemporaryFolder("tidemark-failing")
        let failing = try muted.another(in: folder)
        defer { failing.signal(SIGKILL) }
        let code = try await withTimeout(.seconds(60), "the server that failed did not end") { await failing.ended() }
        #expect(code == 1)
        // Up to here the pipe has a reader, which does not read, and the port is taken.
        #expect(muted.child.isRunning)
        withExtendedLifetime(folder) {}
    }

    @Test func `operators see the number of dropped lines`() async throws {
        let muted = try await Muted(["--admin-listen", "127.0.0.1:0"])
        let port = try muted.operatorsPort()
        // From here on no line can be written.
        muted.leave()
        let end = ContinuousClock.now + .seconds(60)
        var dropped = 0.0
        while dropped == 0, ContinuousClock.now < end {
            #expect(try await status("/v1/clients", at: muted.server) == 401, "a line of the security log")
            let figures = String(decoding: try await answer("/metrics", "127.0.0.1", port).body, as: UTF8.self)
            let series = figures.split(separator: "\n").first { $0.hasPrefix("tidemark_log_lines_dropped_total ") }
            dropped = try #require(series.flatMap { Double($0.split(separator: " ")[1]) })
        }
        #expect(dropped > 0)
    }

    @Test(arguments: [SIGHUP, SIGUSR1, SIGUSR2])
    func `a signal without a meaning for the server does not end it`(_ number: Int32) async throws {
        let muted = try await Muted()
        muted.child.signal(number)
        #expect(try await status("/healthz", at: muted.server) == 200)
        muted.child.signal(number)
        #expect(try await status("/readyz", at: muted.server) == 200)
        #expect(muted.child.isRunning)
        muted.child.signal(SIGTERM)
        #expect(await muted.child.ended() == 0)
    }
}
