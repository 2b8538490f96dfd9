import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// The visible values of a record that was written here and then elsewhere, listed by hand: the property test and the
/// simulator's check merge with the product's own code.
@Suite struct RebaseTableTests {
    /// The server's fields at first, the write here, the server's fields after that, and the visible fields then.
    struct Line: Sendable {
        let first: Fields
        let patches: [NamedPatch]
        let then: Fields
        let shown: Fields

        init(_ first: Fields, _ patches: [NamedPatch], _ then: Fields, shows shown: Fields) {
            (self.first, self.patches, self.then, self.shown) = (first, patches, then, shown)
        }
    }

    @Test(arguments: [
        Line(["text": "a"], [NamedPatch("text", .set("mine"))], ["text": "theirs"], shows: ["text": "mine"]),
        Line(["text": "a"], [NamedPatch("text", .unset)], ["text": "theirs", "done": true], shows: ["done": true]),
        Line(
            ["text": "a", "done": false], [NamedPatch("text", .set("mine"))], ["text": "a", "done": true],
            shows: ["text": "mine", "done": true]),
        Line(["likes": 5], [NamedPatch("likes", .increment(-2))], ["likes": -10], shows: ["likes": -12]),
        Line([:], [NamedPatch("likes", .increment(3))], ["likes": 4], shows: ["likes": 7]),
        Line(
            ["best": .double(-5)], [NamedPatch("best", .max(.double(-3)))], ["best": .double(-4)],
            shows: ["best": .double(-3)]),
        Line(
            ["best": .double(-5)], [NamedPatch("best", .max(.double(-4)))], ["best": .double(-1)],
            shows: ["best": .double(-1)]),
        Line(
            ["tags": ["a", "b"]], [NamedPatch("tags", .remove(["b"]))], ["tags": ["b", "c"]], shows: ["tags": ["c"]]),
        Line(["tags": ["a"]], [NamedPatch("tags", .add(["z"]))], ["tags": ["c"]], shows: ["tags": ["c", "z"]]),
        Line(
            ["seen": ["a"]], [NamedPatch("seen", .add(["b"]))], ["seen": ["a", "c"]], shows: ["seen": ["a", "b", "c"]]),
    ])
    func `a write of this device is applied over received fields, by the rule of each`(_ line: Line) throws {
        let bench = try Bench()
        try bench.join(RecordKey.room(1).scope)
        try bench.apply(.note(1, seq: 5, line.first))
        try bench.write(1, .update(.note(1), line.patches))
        try bench.apply(from: "c1", to: "c2", .note(1, seq: 6, born: 5, line.then))
        #expect(try bench.fields(.note(1)) == line.shown.inRoom(1))
        #expect(try bench.state(.note(1)) == "pending")
        // If it is refused, the received fields stay.
        try bench.apply(from: "c2", to: "c3", settled: .refused(1, 1, .invalid))
        #expect(try bench.fields(.note(1)) == line.then.inRoom(1))
    }
}
