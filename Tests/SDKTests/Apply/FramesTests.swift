import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Frames that waited together are applied in one transaction, with the same result as one by one.
@Suite struct FramesTests {
    private func bench() throws -> Bench {
        let bench = try Bench()
        try bench.join(RecordKey.room(1).scope, RecordKey.room(2).scope)
        try bench.write(1, .note(1, ["text": "mine"]))
        try bench.write(2, .set(.note(1), "text", "mine again"), .note(2, in: 2))
        return bench
    }

    private var frames: [Changes] {
        let (first, second) = (RecordKey.room(1).scope, RecordKey.room(2).scope)
        return [
            .make(from: "c0", to: "c1", [.note(3, seq: 1, ["text": "a"]), .note(4, in: 2, seq: 2)]),
            .make(from: "c1", to: "c2", [.note(3, seq: 3, ["text": "b"]), .note(5, seq: 4)]),
            .make(from: "c2", to: "c3", [.note(1, seq: 101, ["text": "mine"])], settled: .accepted(1, 1)),
            .make(from: "c3", to: "c4", [.note(5, seq: 102, deleted: true), .note(1, seq: 103, ["text": "theirs"])]),
            .make(
                from: "c4", to: "c5", [.note(6, in: 2, seq: 104)], settled: .refused(2, 2, .conflict),
                grants: [.init(scope: second, since: 104, role: nil)]),
            .make(from: "c5", to: "c6", [.note(7, in: 2, seq: 105), .note(6, seq: 106)]),
            .make(from: "c6", to: "c7", [], grants: [.init(scope: first, since: 107, role: .admin)]),
        ]
    }

    @Test(arguments: [[7], [1, 6], [2, 5], [3, 4], [5, 2], [2, 2, 3]])
    func `frames together have the same result as one by one`(sizes: [Int]) throws {
        let (alone, together) = (try bench(), try bench())
        for frame in frames { try alone.database.apply(frame, now: 9_000) }
        var rest = frames[...]
        for size in sizes {
            try together.database.apply(Array(rest.prefix(size)), now: 9_000)
            rest = rest.dropFirst(size)
        }
        #expect(try together.dump() == alone.dump())
    }

    @Test func `a frame that does not continue the one before undoes all of them`() throws {
        let bench = try bench()
        let before = try bench.dump()
        var frames = frames
        frames[3].from = "elsewhere"
        #expect(throws: StoreError.self) { try bench.database.apply(frames, now: 9_000) }
        #expect(try bench.dump() == before)
    }
}
