import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

@Suite struct ShadowTests {
    private static func id(_ number: UInt64) -> UUID { UUID(UniqueID(high: 0, low: number)) }

    private static func impatient() -> ShadowComparison.Limits {
        var limits = ShadowComparison.Limits()
        (limits.grace, limits.maxSamples, limits.maxHistory) = (0, 3, 4)
        return limits
    }

    @Test func `missing, extra and different records are distinguished, with the fields that differ`() {
        var comparison = ShadowComparison(limits: Self.impatient())
        let report = comparison.compare(
            older: [Self.id(1): ["a": 1], Self.id(2): ["a": 1, "b": 2], Self.id(3): ["a": 1, "c": .null]],
            engine: [Self.id(2): ["a": 2, "d": 3, "b": 2], Self.id(3): ["a": 1], Self.id(4): ["a": 1]], now: 7)
        #expect(
            report.samples == [
                ShadowDifference(id: Self.id(1), kind: .missing),
                ShadowDifference(id: Self.id(2), kind: .different(fields: ["a", "d"])),
                ShadowDifference(id: Self.id(4), kind: .extra),
            ])
        #expect(report.description == "4 compared, 1 missing, 1 extra, 1 different, 0 fresh" && !report.agrees)
        #expect(comparison.agreement(since: 7) == 0.25 && comparison.agreement(since: 8) == nil)
    }

    @Test func `only the requested fields are compared`() {
        var comparison = ShadowComparison(fields: ["text"], limits: Self.impatient())
        let older: [UUID: Fields] = [Self.id(1): ["text": "a", "sentAt": 1]]
        #expect(comparison.compare(older: older, engine: [Self.id(1): ["text": "a", "sentAt": 2]], now: 1).agrees)
        #expect(!comparison.compare(older: older, engine: [Self.id(1): ["text": "b", "sentAt": 1]], now: 2).agrees)
    }

    @Test func `a difference is reported once it has lasted, and again after it was gone`() {
        var comparison = ShadowComparison()
        let older: [UUID: Fields] = [Self.id(1): ["a": 1]]
        #expect(comparison.compare(older: older, engine: [:], now: 1_000).counts.fresh == 1)
        #expect(comparison.compare(older: older, engine: [:], now: 5_999).agrees)
        #expect(comparison.compare(older: older, engine: [:], now: 6_000).counts.missing == 1)
        #expect(comparison.compare(older: older, engine: older, now: 7_000).agrees)
        #expect(comparison.compare(older: older, engine: [:], now: 8_000).counts.fresh == 1)
        #expect(comparison.agreement(since: 0) == 0.8)
    }

    @Test func `samples and history are bounded, counts are whole`() {
        var comparison = ShadowComparison(limits: Self.impatient())
        let older = Dictionary(uniqueKeysWithValues: (1...50).map { (Self.id($0), Fields()) })
        for time in 1...9 {
            let report = comparison.compare(older: older, engine: [:], now: Int64(time))
            #expect(report.samples.count == 3 && report.counts.missing == 50)
        }
        #expect(comparison.history.map(\.at) == [6, 7, 8, 9])
    }

    @Test func `a store compares models of an older implementation with its own records`() async throws {
        let store = try SyncStore.test()
        let room = UUID()
        var notes = (0..<3).map { Note(room: room, text: "\($0)", tags: ["a"]) }
        for note in notes { try await store.repository(Note.self).create(note) }
        var comparison = ShadowComparison(limits: Self.impatient())
        let scope = ScopeID(record: room)
        #expect(try await store.compare(notes, in: scope, with: &comparison).agrees)
        notes[0].text = "changed"
        notes.removeLast()
        let report = try await store.compare(notes, in: scope, with: &comparison)
        #expect(report.counts.different == 1 && report.counts.extra == 1 && report.counts.compared == 3)
    }

    @Test func `the flag decides which side reads and which writes`() async throws {
        struct Broken: Error {}
        var log: [String] = []
        for rollout in Rollout.allCases {
            log.append(try await rollout.read(older: { "older" }, engine: { "engine" }))
            let problem = try await rollout.write(
                older: { log.append("\(rollout) to older") }, engine: { log.append("\(rollout) to engine") })
            #expect(problem == nil)
        }
        #expect(
            log == [
                "older", "off to older", "older", "shadow to older", "shadow to engine", "engine", "on to engine",
            ])
        #expect(try await Rollout.shadow.write(older: {}, engine: { throw Broken() }) is Broken)
        await #expect(throws: Broken.self) { try await Rollout.on.write(older: {}, engine: { throw Broken() }) }
        await #expect(throws: Broken.self) {
            try await Rollout.shadow.write(older: { throw Broken() }, engine: { log.append("engine") })
        }
        #expect(log.last == "on to engine" && !Rollout.off.runsEngine && Rollout.shadow.runsEngine)
    }
}
