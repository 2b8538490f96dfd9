import Foundation
import NIOPosix
import Testing
import TidemarkNIOTransport
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkTerminal

/// A server process whose log goes into a pipe that nobody reads, and signals that stop nobody.
@Suite(.timeLimit(.minutes(5))) struct LogPipeTests {
    /// A server of its own whose standard error is a pipe that only the test can read.
    private final class Muted {
        let child: ChildProcess
        let folder: TemporaryFolder
        let server: String
        private let reading: Int32

        /// The pipe is made by the test, and the shell gives its end to the server: what the test reads from the child is the server's
        /// standard output alone.
        init(_ options: [String] = []) async throws {
            folder = try TemporaryFolder("tidemark-muted")
            let pipe = "\(folder.path)/log"
            try #require(mkfifo(pipe, 0o600) == 0)
            // Opened for both, so that neither end waits for the other.
            reading = open(pipe, O_RDWR | O_CLOEXEC)
            try #require(reading >= 0)
            let words = [
                try Binary.path, "serve", "--dev", "--listen", "127.0.0.1:0", "--database",
                "sqlite:\(folder.path)/t.sqlite", "--log-level", "trace",
            ]
            let line = (words + options).map { "'\($0)'" }.joined(separator: " ")
            child = try ChildProcess("/bin/sh", ["-c", "exec \(line) 2> '\(pipe)'"])
            var address: ListenAddress?
            for await line in child.lines {
                address = ListenAddress(announcedIn: line)
                if address != nil { break }
            }
            server = try #require(address).url
        }

        /// Leaves no room in the pipe for a single line.
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
        let answer = try await withTimeout(.seconds(20), "\(path) was not answered") {
            try await NIOHTTPClient.request(
                method: "GET", host: address.host, port: address.port, path: path, useTLS: false,
                headers: [("Authorization", "Bearer wrong")], body: [], group: MultiThreadedEventLoopGroup.singleton)
        }
        return answer.status
    }

    @Test func `a pipe that nobody reads stops neither calls nor the end`() async throws {
        let muted = try await Muted()
        muted.fill()
        // Each of the first is a line of the security log.
        for _ in 0..<100 { #expect(try await status("/v1/clients", at: muted.server) == 401) }
        #expect(try await status("/healthz", at: muted.server) == 200)
        #expect(try await status("/readyz", at: muted.server) == 200)
        muted.child.signal(SIGTERM)
        let code = try await withTimeout(.seconds(20), "SIGTERM did not end the server") { [child = muted.child] in
            await child.ended()
        }
        #expect(code == 0)
    }

    @Test(arguments: [SIGHUP, SIGUSR1, SIGUSR2])
    func `a signal that asks for nothing kills no server`(_ number: Int32) async throws {
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
