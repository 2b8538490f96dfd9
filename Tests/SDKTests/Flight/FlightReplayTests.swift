import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// The same machine repeats a recorded course.
@Suite(.timeLimit(.minutes(5))) struct FlightReplayTests {
    @Test(arguments: 1...60 as ClosedRange<UInt64>) func `each course is repeated, effect by effect`(
        _ seed: UInt64
    ) throws {
        var recording = FlightRecording()
        // Small enough to turn over, so that the replay begins in the middle.
        recording.maxBytes = seed % 2 == 0 ? 64 << 10 : 1 << 20
        let course = FlightCourse.varied(seed, recording)
        let replay = try course.replay()
        #expect(replay.steps.count > 50)
        #expect(replay.steps.compactMap(\.difference) == [])
        #expect(replay.isSame, "\(replay.marks)")
        let last = try #require(replay.steps.last)
        #expect(last.machine.link == course.bench.machine.link)
        #expect(last.machine.recordedMembers["pushes"] == course.bench.machine.recordedMembers["pushes"])
    }

    @Test func `a machine that differs from the recorded one is named with the entry`() throws {
        let course = FlightCourse.varied(3)
        var lines = course.recorder.lines()
        let index = try #require(lines.lastIndex { $0.contains("\"loadPush:") })
        lines[index] = lines[index].replacing("\"loadPush:", with: "\"loadPages:")
        let replay = FlightReplay(try Recording(lines: lines))
        #expect(!replay.isSame)
        #expect(replay.steps.filter { $0.difference != nil }.map(\.entry) == [index + 1])
        #expect(FlightJudge(replay).findings.contains { $0.kind == .difference && $0.entry == index + 1 })
    }

    @Test func `a replay stops at a given entry`() throws {
        let course = FlightCourse.varied(5)
        let replay = try course.replay(until: 20)
        #expect(replay.steps.last?.entry ?? 0 <= 20 && replay.steps.count > 10)
    }

    @Test func `every member of a machine is recorded, except for its token and its initial values`() {
        func stored(_ state: Any) -> Set<String> { Set(Mirror(reflecting: state).children.compactMap(\.label)) }
        func recorded(_ state: some RecordedMembers) -> Set<String> {
            Set(state.recordedMembers.entries.map { String($0.name.prefix { $0 != "." }) })
        }
        let machine = SyncMachine(seed: 1)
        #expect(stored(machine) == recorded(machine).union(["timing", "token", "app"]))
        #expect(stored(machine.timing) == recorded(machine.timing))
        #expect(stored(machine.backoff) == recorded(machine.backoff).union(["timing"]))
        #expect(stored(machine.watch) == recorded(machine.watch).union(["timing"]))
        #expect(stored(machine.presence) == recorded(machine.presence))
        #expect(stored(machine.replaced) == recorded(machine.replaced))
        #expect(stored(machine.releases) == recorded(machine.releases))
        #expect(stored(machine.comparing) == recorded(machine.comparing))
        #expect(stored(machine.collectionRounds) == recorded(machine.collectionRounds))
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>) func `the members of a machine are read back unchanged`(
        _ seed: UInt64
    ) {
        let machine = FlightCourse.varied(seed).bench.machine
        let read = SyncMachine.replaying(machine.recordedMembers, machine.timing)
        #expect(read.missing == [])
        #expect(read.machine.recordedMembers == machine.recordedMembers)
    }

    @Test func `a received message is never longer in a recording, and the machine gets as many bytes`() throws {
        let outcome = TransactionOutcome(
            number: 1, transaction: .transaction(1), seq: 4, time: 5, rejection: Rejection(.quota, "too many notes"))
        let messages: [ServerMessage] = [
            .welcome(.make(settledThrough: 3)), .authOK(AuthOK(expires: 9)),
            .changes(
                .make(
                    from: "c0", to: "c1", [.note(1, seq: 5, ["text": "hi"])],
                    settled: Settled(through: 1, outcomes: [outcome]))),
            .goAway(GoAway(after: 5, reason: "later")), .error(ErrorMessage(.overloaded, "busy", request: 4)),
            .ephemeral(Ephemeral(scope: ScopeID("a"), user: UserID("bob"), kind: "typing", lifetime: 9)),
            .page(
                PageAnswer(
                    id: 1, scope: ScopeID("a"), since: 1, collection: "notes", changes: [.note(1, seq: 5)], next: 3)),
        ]
        for message in messages {
            let bytes = message.encode()
            var writer = JSONWriter()
            RecordedMessage.write(bytes, isRefused: false, keepsValues: false, to: &writer)
            let recorded = try JSONReader.read(writer.bytes) { try $0.value() }
            let replayed = try RecordedMessage.bytes(recorded)
            #expect(replayed.count == bytes.count)
            _ = try ServerMessage.decode(replayed)
        }
    }
}
