import Foundation
import Testing
import TidemarkLock
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// The space of a recording: bounded, and whole after any end of the process.
@Suite(.timeLimit(.minutes(5))) struct FlightRingTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path("a.sqlite.flight") }

    init() throws { folder = try TemporaryFolder() }

    private func head(_ number: Int64) -> [UInt8] { Array("{\"flight\":1,\"segment\":\(number)}\n".utf8) }

    private func line(_ number: Int) -> [UInt8] { Array("{\"n\":\(number)}\n".utf8) }

    private func fill(_ ring: inout FlightRing, _ numbers: Range<Int>) {
        for number in numbers where !ring.append(line(number)) {
            ring.turn(head)
            _ = ring.append(line(number))
        }
    }

    @Test(arguments: [true, false])
    func `the newest lines are kept, in their order, and never more bytes than allowed`(
        _ isFile: Bool
    ) throws {
        var ring = try FlightRing(path: isFile ? path : nil, bytes: 64 << 10)
        fill(&ring, 0..<20_000)
        #expect(ring.contents.count <= 64 << 10)
        let lines = FlightLines(ring.contents).lines.filter { $0.contains("\"n\"") }
        #expect(lines.last == "{\"n\":19999}")
        #expect(lines == (20_000 - lines.count..<20_000).map { "{\"n\":\($0)}" })
        #expect(lines.count > 2_500, "three segments of four at least are full")
    }

    @Test func `another process continues where the last one ended`() throws {
        var ring = try FlightRing(path: path, bytes: 64 << 10)
        fill(&ring, 0..<3_000)
        var next = try FlightRing(path: path, bytes: 64 << 10)
        #expect(next.number == ring.number)
        fill(&next, 3_000..<3_010)
        let lines = FlightLines(next.contents).lines.filter { $0.contains("\"n\"") }
        #expect(lines.suffix(20) == (2_990..<3_010).map { "{\"n\":\($0)}" }[...])
    }

    @Test func `a line that the end of a process has cut is dropped and counted, wherever it is cut`() throws {
        let whole = Array(try #require(FlightCourse.varied(1).recorder.lines().last).utf8) + [UInt8(ascii: "\n")]
        for length in 1..<whole.count - 1 {
            try? FileManager.default.removeItem(atPath: path)  // The first time the file does not exist.
            var ring = try FlightRing(path: path, bytes: 64 << 10)
            fill(&ring, 0..<3)
            _ = ring.append(Array(whole.prefix(length)))
            var next = try FlightRing(path: path, bytes: 64 << 10)
            _ = next.append(line(7))
            let recording = try Recording(lines: FlightLines(next.contents).lines + [#"{"t":1,"clock":5}"#])
            // The four whole lines are no entries of a course either.
            #expect(recording.torn == 5, "cut after \(length) bytes")
        }
    }

    @Test func `the file has all its bytes from the start, and a full one of another size is begun anew`() throws {
        _ = try FlightRing(path: path, bytes: 64 << 10)
        #expect(DiskFile.bytes(of: path) == 64 << 10)
        var ring = try FlightRing(path: path, bytes: 128 << 10)
        #expect(DiskFile.bytes(of: path) == 128 << 10 && ring.number == 0)
        fill(&ring, 0..<10)
        #expect(FlightLines(ring.contents).lines.count == 11)
    }

    @Test func `a recording that is switched off has no file and no lines`() throws {
        var recording = FlightRecording()
        recording.maxBytes = 0
        let recorder = FlightRecorder(of: folder.path("a.sqlite"), recording) { 0 }
        recorder.began(SyncMachine(seed: 1), now: 0)
        recorder.note(.start, now: 1, [], SyncMachine(seed: 1))
        #expect(recorder.lines() == [])
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `without a file there is no recording, and nothing else happens`() {
        let recorder = FlightRecorder(of: folder.path("none/a.sqlite")) { 0 }
        recorder.began(SyncMachine(seed: 1), now: 0)
        recorder.note(.start, now: 1, [], SyncMachine(seed: 1))
        #expect(recorder.lines() == [])
    }

    @Test func `an event that is too large is left out, and the course continues after it`() throws {
        var recording = FlightRecording()
        recording.maxBytes = 64 << 10
        var course = FlightCourse(EngineTiming(), recording)
        course.run { bench in
            bench.on(.start)
            bench.connect()
            bench.settle(0)
            bench.on(.watch(Set((0..<900).map { ScopeID("a scope with a long name \($0)") })))
            bench.on(.watch([]))
            for number in 1...20 {
                bench.outbox.append(UInt64(number))
                bench.on(.wrote)
                bench.settle(Int64(number))
            }
        }
        let replay = try course.replay()
        #expect(replay.isSame)
        #expect(replay.marks.contains { if case .gap = $0.mark { true } else { false } })
        #expect(replay.steps.last?.machine.sentThrough == course.bench.machine.sentThrough)
    }

    @Test func `entries of an idle connection are written with the next other one, in order`() throws {
        let recorder = FlightRecorder(of: folder.path("a.sqlite")) { 0 }
        var machine = SyncMachine(seed: 1)
        recorder.began(machine, now: 0)
        let begun = recorder.lines().count
        func written() throws -> [String] { FlightLines(Array(try Data(contentsOf: URL(filePath: path)))).lines }
        for now in 1...3 as ClosedRange<Int64> {
            recorder.note(.tick, now: now, machine.on(.tick, now: now), machine)
        }
        #expect(try written().count == begun)
        #expect(recorder.lines().count == begun + 3)
        recorder.note(.start, now: 4, machine.on(.start, now: 4), machine)
        #expect(try written() == recorder.lines())
        #expect(try written().count == begun + 4)
    }
}
