import Testing
import TidemarkModel
import TidemarkNIOTransport
import TidemarkOperations
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly

/// The verdict whether a device has the right records, made of facts, and of its report at a server.
@Suite struct CopyStoryTests {
    private static let id = Sample.id(7)
    private static let (room, hall) = (ScopeID("room"), ScopeID("hall"))

    private func digest(_ numbers: Int64...) -> RecordDigest {
        var digest = RecordDigest()
        for number in numbers {
            digest.insert(RecordKey(collection: "notes", id: Sample.id(1)), at: number, body: Array("{}".utf8))
        }
        return digest
    }

    /// A device with the right records; each test changes one thing.
    private func story(_ change: (inout CopyStory.Facts) -> Void = { _ in }) -> CopyStory {
        var facts = CopyStory.Facts(
            id: Self.id, user: UserID("bob"), head: Head(seq: 50, nonce: 1, time: 1, epoch: 1))
        facts.device = Device(
            id: Self.id, user: UserID("bob"), registered: 5, seen: 6, app: nil, settledThrough: 3, ackedThrough: 1)
        facts.position = 48
        facts.scopes = [
            .init(
                scope: Self.room,
                state: .compared([
                    .init(name: "notes", here: digest(1, 2), there: digest(1, 2)),
                    .init(name: "files", here: digest(), there: digest()),
                ]))
        ]
        change(&facts)
        return CopyStory(facts)
    }

    @Test func `a device with the right records`() {
        #expect(story().answer == .same && story().lines == ["room notes: the same, 2 records"])
        #expect(story().sentence.contains("in all of its 1 scopes. It stood at #48 of #50."))
    }

    @Test func `an unknown device, or another user's`() {
        #expect(story { $0.device = nil }.answer == .unknown)
        #expect(story { $0.device?.user = UserID("eve") }.answer == .otherUser)
    }

    @Test func `a device whose cursor is in the lost order`() { #expect(story { $0.isLost = true }.answer == .lost) }

    @Test func `a device with fewer records, or others`() {
        func differing(_ here: RecordDigest) -> CopyStory {
            story {
                $0.scopes = [
                    .init(scope: Self.room, state: .compared([.init(name: "notes", here: here, there: digest(1, 2))]))
                ]
            }
        }
        #expect(differing(digest(1)).answer == .differs)
        #expect(differing(digest(1)).lines == ["room notes: DIFFERENT, 1 records, and 2 at the server"])
        #expect(differing(digest(1, 3)).lines == ["room notes: DIFFERENT, 2 records on both sides"])
    }

    @Test func `changes since the report are not judged`() {
        let changed = story { $0.scopes.append(.init(scope: Self.hall, state: .changed)) }
        #expect(changed.answer == .changed && changed.sentence.contains("1 of 2 scopes have changed"))
        #expect(changed.lines.last == "hall: written in since")
        let left = story { $0.scopes.append(.init(scope: Self.hall, state: .grantChanged)) }
        #expect(left.answer == .changed && left.lines.last == "hall: the membership is another one since")
    }

    private static func report(
        _ client: ClientID, _ cursor: String?, _ records: Int64, _ digest: RecordDigest, since: Int64 = 0
    ) -> String {
        let place = cursor.map { #""cursor":"\#($0)","# } ?? ""
        return #"""
            {"account":"ann","client":"\#(client)","outbox":[1],"copy":{\#(place)"scopes":[{"scope":"directory","since":\#(since),
            "later":0,"collections":[{"collection":"users","from":0,"records":\#(records),"digest":"\#(digest.text)"}]}]}}
            """#
    }

    @Test func `a report is compared with the stored records, without later writes`() async throws {
        let store = InMemoryStore()
        try await TestServer.administered(over: OpenedStore(store)) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.profile(10))
            let cursor = try await ann.settled(through: 1).last?.cursor
            let stored = try await store.page(
                scope: ScopeID("directory"), collection: "users", before: .max, limit: 9, in: WorkspaceID("w"))
            var digest = RecordDigest()
            for record in stored.records { digest.insert(record.key, at: record.seq, body: record.body) }
            let entry = #"{"scope":"directory","since":0,"collections":[]}"#
            let twice = #"{"account":"ann","client":"\#(ann.id)","copy":{"scopes":[\#(entry),\#(entry)]}}"#
            let refused = try await server.adminCall("/admin/v1/verify?workspace=w", body: twice)
            #expect(refused.status == 400 && refused.text.contains("appears twice"), "\(refused.text)")
            func answer(_ report: String) async throws -> String? {
                try await server.admin("verify?workspace=w", body: report).text("answer")
            }
            #expect(try await answer(Self.report(ann.id, cursor, 1, digest)) == "same")
            #expect(try await answer(Self.report(ann.id, cursor, 1, RecordDigest())) == "differs")
            #expect(try await answer(Self.report(ann.id, cursor, 2, digest)) == "differs")
            #expect(try await answer(Self.report(ann.id, nil, 2, digest)) == "changed", "nobody knows since when")
            #expect(try await answer(Self.report(ann.id, cursor, 2, digest, since: 9)) == "changed")
            #expect(try await answer(Self.report(Sample.id(9), cursor, 1, digest)) == "unknown")
            try await ann.push(from: 2, Sample.profile(11))
            _ = try await ann.settled(through: 2)
            #expect(try await answer(Self.report(ann.id, cursor, 1, digest)) == "changed")
            for bad in [
                "{}", "[]", #"{"account":"ann","client":"\#(ann.id)"}"#,
                Self.report(ann.id, cursor, -1, digest),
                Self.report(ann.id, cursor, 1, digest).replacing("users", with: ""),
            ] {
                let answer = try await server.adminCall("/admin/v1/verify?workspace=w", body: bad)
                #expect(answer.status == 400, "\(bad): \(answer.text)")
            }
            #expect(try await server.adminCall("/admin/v1/verify", body: "{}").status == 400)
        }
    }
}
