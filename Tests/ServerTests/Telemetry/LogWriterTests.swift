import Foundation
import Logging
import Testing
import TidemarkAssembly

@testable import TidemarkTelemetry

/// The log never makes a caller wait.
@Suite(.timeLimit(.minutes(5))) struct LogWriterTests {
    private static func line(_ number: Int) -> String { "line \(number) " + String(repeating: "x", count: 90) + "\n" }

    /// The lines read from a pipe until they are enough, or until its end.
    private static func lines(from descriptor: Int32, until isEnough: ([String]) -> Bool = { _ in false }) -> [String] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var lines: [String] = []
        while !isEnough(lines) {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
            guard bytes.last == UInt8(ascii: "\n") else { continue }
            lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        }
        return lines
    }

    /// The number of dropped lines in all notices among these: each gap has a notice of its own.
    private static func told(_ lines: [String]) -> Int {
        lines.compactMap { line -> Int? in
            guard line.hasSuffix("lines of the log were dropped: they could not be written") else { return nil }
            return Int(line.prefix { $0.isNumber })
        }.reduce(0, +)
    }

    @Test func `a line that finds no room is dropped, and a notice at that point says how many were`() {
        var queue = LineQueue(bytesMax: 10)
        func add(_ line: String) -> Bool { queue.add(Array("\(line)\n".utf8)) }
        func next() -> String? { queue.next().map { String(decoding: $0, as: UTF8.self) } }
        #expect(add("12345"), "the first has to be written")
        #expect(next() == "12345\n")
        // While that is being written, no second write begins.
        #expect(!add("a"))
        #expect(!add("123456789"))
        #expect(!add("1234567890"))
        #expect(queue.dropped == 2 && !queue.isEmpty)
        #expect(next() == "a\n2 lines of the log were dropped: they could not be written\n")
        #expect(next() == nil && queue.isEmpty && queue.dropped == 2)
        #expect(add("b"), "after the end somebody has to begin again")
    }

    @Test func `a caller that logs into an unread pipe goes on, and the reader is told what is missing`() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let writer = LogWriter(descriptor: ends[1], waitingBytesMax: 10_000)
        // Far more than a pipe and the queue hold: a writer that waits would never return.
        for number in 0..<10_000 { writer.take(Self.line(number)) }
        let dropped = writer.dropped
        #expect(dropped > 5_000 && dropped < 10_000)
        await writer.flush(within: .milliseconds(20))
        let lines = Self.lines(from: ends[0]) { lines in
            Self.told(lines) + lines.count { $0.hasPrefix("line ") } == 10_000
        }
        #expect(lines.count { $0.hasPrefix("line ") } == 10_000 - dropped)
        writer.take("after\n")
        #expect(Self.lines(from: ends[0]) { !$0.isEmpty } == ["after"])
    }

    @Test func `a reader that has left costs lines and nothing else`() async throws {
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        close(ends[0])
        defer { close(ends[1]) }
        let writer = LogWriter(descriptor: ends[1])
        var logger = Logger(label: "test") { writer.handler(label: $0) }
        logger.logLevel = .info
        logger.info("one")
        await writer.flush(within: .seconds(60))
        #expect(writer.dropped == 1)
    }

    @Test func `lines that could not be written are reported with the next line, and not tried again before`() {
        var queue = LineQueue(bytesMax: 100)
        func add(_ line: String) -> Bool { queue.add(Array("\(line)\n".utf8)) }
        func next() -> String? { queue.next().map { String(decoding: $0, as: UTF8.self) } }
        #expect(add("a") && next() == "a\n")
        queue.lose()
        #expect(next() == nil && queue.isEmpty && queue.dropped == 1)
        #expect(add("b") && next() == "1 lines of the log were dropped: they could not be written\nb\n")
        // A line arrived while that could not be written either.
        #expect(!add("c"))
        queue.lose()
        #expect(queue.dropped == 2)
        #expect(next() == "c\n2 lines of the log were dropped: they could not be written\n")
        #expect(next() == nil && queue.isEmpty)
    }

    @Test func `logged lines are written when a caller waits for them`() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        let writer = LogWriter(descriptor: ends[1])
        for number in 0..<200 { writer.take(Self.line(number)) }
        await writer.flush(within: .seconds(60))
        close(ends[1])
        #expect(Self.lines(from: ends[0]).count == 200 && writer.dropped == 0)
    }

    @Test func `dropped lines are a figure`() async throws {
        var surroundings = ServerAssembly.Surroundings()
        surroundings.logLinesDropped = { 7 }
        try await TestServer.running(environment: TestServer.operated, surroundings: surroundings) { server in
            let figures = try await Figures(of: server)
            #expect(figures["tidemark_log_lines_dropped_total"] == 7)
        }
    }
}
