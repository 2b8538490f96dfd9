import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// A recording holds no value that an app stores, and no token.
@Suite(.timeLimit(.minutes(5))) struct FlightRedactionTests {
    private static let secrets = ["Rosebud", "4711815", "moon-phase", "a-token-of-ann"]

    private func course(_ recording: FlightRecording) throws -> String {
        var course = FlightCourse(EngineTiming(), recording)
        let fields: Fields = ["text": "Rosebud", "likes": 4_711_815, "tags": ["moon-phase"]]
        course.run { bench in
            bench.on(.start)
            bench.connect()
            bench.on(.tokenRefreshed("a-token-of-ann"))
            let refused = TransactionOutcome(
                number: 1, transaction: .transaction(1), seq: 4, time: 5, rejection: Rejection(.invalid, "Rosebud"))
            bench.receive(
                .changes(
                    .make(
                        from: "c0", to: "c1", [.note(1, seq: 5, fields)],
                        settled: Settled(through: 1, outcomes: [refused]))))
            bench.receive(
                .ephemeral(
                    Ephemeral(
                        scope: ScopeID("room"), user: UserID("bob"), kind: "typing", payload: ["w": "Rosebud"],
                        lifetime: 9)))
            bench.on(.say(Ephemeral(scope: ScopeID("room"), kind: "x", payload: ["w": "moon-phase"], lifetime: 9)))
            let transaction = Transaction(id: .transaction(9), mutations: [.note(2, fields)], clientTime: 0)
            bench.on(.pushLoaded([NumberedEntry(number: 2, entry: Push.Entry(transaction), bytes: 99)]))
            bench.unfilled = [PageRequest(id: 0, scope: ScopeID("room"), since: 1, collection: "notes", limit: 5)]
            bench.on(.wantsPages)
            bench.receive(
                .page(
                    PageAnswer(
                        id: 1, scope: ScopeID("room"), since: 1, collection: "notes",
                        changes: [.note(3, seq: 6, fields)], next: nil)))
            // An invalid message is not kept either.
            bench.on(.arrived([Array("{\"t\":\"changes\",\"g\":\"Rosebud\"}".utf8)]))
        }
        #expect(try course.replay().isSame)
        return course.recorder.lines().joined(separator: "\n")
    }

    @Test func `no value, no text of a refusal, no payload and no token is recorded`() throws {
        let text = try course(FlightRecording())
        for secret in Self.secrets { #expect(!text.contains(secret), "\(secret)") }
        #expect(text.contains("create notes") && text.contains("room"))
    }

    @Test func `an app that wants values gets them, and still no token`() throws {
        var recording = FlightRecording()
        recording.recordsValues = true
        let text = try course(recording)
        for secret in Self.secrets.dropLast() { #expect(text.contains(secret), "\(secret)") }
        #expect(!text.contains("a-token-of-ann"))
    }

    @Test func `a report contains the recording, and no written value`() async throws {
        let server = ScriptedServer()
        let store = try SyncStore.test()
        try store.connect(to: "http://test", transport: server) { "a-token-of-ann" }
        try await store.repository(Note.self).create(Note(room: UUID(), text: "Rosebud"))
        _ = try await store.syncNow()
        let report = try await store.exportReport()
        await store.disconnect()
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let lines = try #require(try decoder.decode(Diagnostics.self, from: report).recording)
        let replay = FlightReplay(try Recording(lines: lines))
        #expect(replay.isSame && replay.steps.contains { $0.effects.contains { EffectDigest.kind($0) == "send.push" } })
        let text = String(decoding: report, as: UTF8.self)
        for secret in ["Rosebud", "a-token-of-ann"] { #expect(!text.contains(secret)) }
    }
}
