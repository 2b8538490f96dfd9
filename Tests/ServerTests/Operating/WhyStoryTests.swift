import Foundation
import Testing
import TidemarkModel
import TidemarkOperations
import TidemarkStore

/// Each answer to the question why a user does not see a record, made of facts.
@Suite struct WhyStoryTests {
    private static let id = Sample.id(1)
    private static let scope = ScopeID(record: Sample.id(2))
    private static let key = RecordKey(collection: "messages", id: id)
    private static let device = Sample.id(7)

    private static func record(deleted: Bool = false, collection: String = "messages") -> StoredRecord {
        StoredRecord(
            key: RecordKey(collection: collection, id: id), scope: scope, seq: 40, born: 30, isDeleted: deleted,
            author: UserID("ann"), created: 1, updated: 2, body: deleted ? [] : Array("{}".utf8))
    }

    private static func device(_ id: UniqueID = device, seen: Milliseconds = 1_700_000_000_000) -> Device {
        Device(
            id: id, user: UserID("bob"), registered: 5, seen: seen, app: "chat/1", settledThrough: 3, ackedThrough: 1)
    }

    /// Bob is a member with a device that is not connected; each test changes one thing.
    private func facts(_ change: (inout WhyFacts) -> Void = { _ in }) throws -> WhyFacts {
        let json = try Data(contentsOf: URL(filePath: TestServer.schemaFile))
        var facts = WhyFacts(
            workspace: WorkspaceID("w"), user: UserID("bob"), id: Self.id, now: 1_700_000_100_000,
            schema: try Schema(json: Array(json)), head: Head(seq: 50, nonce: 1, time: 1, epoch: 1))
        facts.horizon = 4
        facts.records = [Self.record()]
        facts.grants = [Grant(scope: Self.scope, since: 20, role: .member)]
        facts.devices = [Self.device()]
        change(&facts)
        return facts
    }

    private func answer(_ change: (inout WhyFacts) -> Void = { _ in }) throws -> WhyStory {
        WhyStory(try facts(change))
    }

    @Test func `nothing was ever written there`() throws {
        let story = try answer { $0.head = .start }
        #expect(story.answer == .noSuchWorkspace)
        #expect(story.sentence.contains("nothing was ever written in workspace w"))
    }

    @Test func `there is no such record`() throws {
        let story = try answer { $0.records = [] }
        #expect(story.answer == .noSuchRecord)
        #expect(story.sentence.hasPrefix("bob does not see \(Self.id) because no record of that id is stored"))
        #expect(story.sentence.contains("before #4"))
    }

    @Test func `there is no such user`() throws {
        let story = try answer { facts in
            (facts.grants, facts.devices) = ([], [])
        }
        #expect(story.answer == .noSuchUser)
        #expect(story.sentence.contains("nothing is known of bob in workspace w"))
    }

    @Test func `its scope does not fit on a connection`() throws {
        let story = try answer { facts in
            (facts.leftOut, facts.isLeftOut) = (7, true)
        }
        #expect(story.answer == .leftOut)
        #expect(story.sentence.contains("bob has 7 more scopes than a connection holds"))
        #expect(story.text.contains("7 of them, the oldest, do not fit on a connection"))
        // Another record of the same user's.
        #expect(try answer { $0.leftOut = 7 }.answer == .notConnected)
    }

    @Test func `its scope was erased`() throws {
        let story = try answer { facts in
            facts.records = [Self.record(deleted: true)]
            facts.isScopeErased = true
        }
        #expect(story.answer == .scopeErased && story.sentence.contains("its scope \(Self.scope) was erased"))
    }

    @Test func `it was deleted, by a named user if that is stored`() throws {
        let unknown = try answer { $0.records = [Self.record(deleted: true)] }
        #expect(unknown.answer == .deleted)
        #expect(unknown.sentence.contains("it was deleted at #40 (by whom is no longer known)"))
        let known = try answer { facts in
            let record = Self.record(deleted: true)
            facts.records = [record]
            let head = Head(seq: 40, nonce: 1, time: 1, epoch: 1)
            let settlement = Settlement(
                client: ClientRow(id: Sample.id(8), user: UserID("carl")),
                results: [TransactionOutcome(number: 1, transaction: Sample.id(9), seq: 40, time: 1, rejection: nil)])
            let batch = CommittedBatch(low: 40, head: head, records: [record], settlements: [settlement])
            facts.history = RecordHistory(
                of: record, batches: [TailBatch(low: 40, head: head, batch: batch)], ledger: [])
        }
        #expect(known.sentence == "bob does not see \(Self.key) because it was deleted at #40 by carl.")
    }

    @Test func `the schema does not have its collection`() throws {
        let story = try answer { $0.records = [Self.record(collection: "drafts")] }
        #expect(story.answer == .unreadableCollection && story.sentence.contains("no collection drafts"))
    }

    @Test func `the user was never a member`() throws {
        let story = try answer { $0.grants = [] }
        #expect(story.answer == .neverMember)
        #expect(story.sentence.contains("bob was never a member of its scope \(Self.scope)"))
    }

    @Test func `the user is no member any more`() throws {
        let story = try answer { facts in
            facts.grants = []
            facts.ended = [
                EndedMembership(
                    user: UserID("bob"), scope: Self.scope, role: .admin, since: 21, ended: 35),
                EndedMembership(user: UserID("bob"), scope: ScopeID("other"), role: .member, since: 1, ended: 49),
                EndedMembership(user: UserID("bob"), scope: Self.scope, role: .member, since: 3, ended: 12),
            ]
        }
        #expect(story.answer == .memberNoMore)
        #expect(story.sentence.contains("any more since #35 (was admin from #21 on)"))
        #expect(story.text.contains("was admin of \(Self.scope) from #21 to #35"))
        #expect(story.text.contains("was member of \(Self.scope) from #3 to #12"))
        #expect(!story.text.contains("of other from"), "spans of other scopes say nothing of this record")
    }

    @Test func `every user sees a shared scope`() throws {
        let story = try answer { facts in
            facts.grants = []
            facts.records = [
                StoredRecord(
                    key: RecordKey(collection: "users", id: Self.id), scope: ScopeID("directory"), seq: 1, born: 1,
                    isDeleted: false, author: UserID("ann"), created: 1, updated: 1, body: Array("{}".utf8))
            ]
        }
        #expect(story.answer == .notConnected && story.text.contains("its scope is shared"))
    }

    @Test func `the user has no device`() throws {
        let story = try answer { $0.devices = [] }
        #expect(story.answer == .noDevice && story.sentence.contains("no device of bob is registered"))
    }

    @Test func `every device is signed out`() throws {
        let story = try answer { $0.revoked = [Self.device: 9] }
        #expect(story.answer == .revoked && story.devices.map(\.state) == [.revoked])
        // Another device exists.
        let other = try answer { facts in
            facts.devices.append(Self.device(Sample.id(8)))
            facts.revoked = [Self.device: 9]
        }
        #expect(other.answer == .notConnected)
    }

    @Test func `no device is connected, since when, and why its last connection ended`() throws {
        let story = try answer { facts in
            facts.closings = [
                WhyFacts.Closing(client: Self.device, time: 1, code: 4408, reason: "no acknowledgement in time")
            ]
        }
        #expect(story.answer == .notConnected)
        #expect(story.sentence.contains("was seen at 2023-11-14T22:13:20Z"))
        #expect(story.sentence.contains("its last connection ended with 4408, no acknowledgement in time"))
        // It connected once; that is stored a quarter of an hour later.
        let new = try answer { $0.devices = [Self.device(seen: 0)] }
        #expect(new.sentence.contains("was seen at 1970-01-01T00:00:00Z"))
    }

    @Test func `a device that has it went away, and another one lacks it`() throws {
        let has = try answer { $0.devices[0].position = 40 }
        #expect(has.answer == .delivered && has.devices.map(\.state) == [.deliveredAway])
        #expect(
            has.sentence.hasPrefix(
                "bob was sent \(Self.key): device \(Self.device) has everything up to #40, and is away since 2023-11-14"
            ))
        #expect(has.text.contains("\(Self.device), has it, away since 2023-11-14T22:13:20Z"))
        let lacks = try answer { $0.devices[0].position = 39 }
        #expect(lacks.answer == .notConnected && lacks.devices.map(\.state) == [.away])
        #expect(lacks.sentence.contains("with everything up to #39, and the record's last change is #40"))
        // The device that was connected last decides; what the other has is named first.
        let other = Sample.id(8)
        let both = try answer { facts in
            facts.devices[0].position = 40
            facts.devices.append(Self.device(other, seen: 1_700_000_050_000))
            facts.devices[1].position = 39
            facts.revoked[Sample.id(9)] = 1
        }
        #expect(both.answer == .notConnected && both.devices.map(\.state) == [.deliveredAway, .away])
        #expect(
            both.sentence
                == "bob has \(Self.key) on device \(Self.device), away since 2023-11-14T22:13:20Z; device \(other),"
                + " seen later, does not have it yet: it is not connected, and was seen at 2023-11-14T22:14:10Z"
                + " with everything up to #39, and the record's last change is #40.")
    }

    @Test func `a device is connected and behind, and another one has the record`() throws {
        let other = Sample.id(8)
        func sentence(_ change: (inout WhyFacts) -> Void) throws -> String {
            let story = try answer { facts in
                facts.devices.append(Self.device(other))
                facts.connections = [WhyFacts.Connection(client: other, position: 39, isSlow: false)]
                change(&facts)
            }
            #expect(story.answer == .behind)
            return story.sentence
        }
        let lacking = "device \(other) does not have it yet: it is connected and behind"
        let away = try sentence { $0.devices[0].position = 40 }
        #expect(away.hasPrefix("bob has \(Self.key) on device \(Self.device), away since ") && away.contains(lacking))
        let here = try sentence { facts in
            facts.connections.append(WhyFacts.Connection(client: Self.device, position: 40, isSlow: false))
        }
        #expect(here.hasPrefix("bob was sent \(Self.key) on device \(Self.device), which is connected; \(lacking)"))
    }

    @Test func `a device is connected, and its copy refuses each frame`() throws {
        let refusing = "cannot take in what it is sent: it ended 5 connections in a row for that"
        let story = try answer { facts in
            facts.devices[0].position = 39
            facts.connections = [
                WhyFacts.Connection(client: Self.device, position: 50, isSlow: false, pending: 400, stuck: 5)
            ]
        }
        #expect(story.answer == .cannotApply && story.devices.map(\.state) == [.cannotApply])
        #expect(
            story.sentence.hasPrefix(
                "bob does not see \(Self.key) because device \(Self.device) is connected and \(refusing)"))
        #expect(story.text.contains("\(Self.device), connected, chat/1, has everything up to #39, could not take in"))
        #expect(!story.sentence.contains("was sent") && !story.text.contains("delivered"))
        // It has acknowledged everything since that report, or at least this record.
        let mended = try answer { facts in
            facts.connections = [WhyFacts.Connection(client: Self.device, position: 50, isSlow: false, stuck: 5)]
        }
        #expect(mended.answer == .delivered && mended.sentence.contains("was sent everything up to #50"))
        let later = try answer { facts in
            facts.devices[0].position = 45
            facts.connections = [
                WhyFacts.Connection(client: Self.device, position: 50, isSlow: false, pending: 400, stuck: 5)
            ]
        }
        #expect(later.answer == .delivered && later.sentence.contains("is connected and has everything up to #45"))
        #expect(later.text.contains("could not take in what it was sent on 5 connections in a row"))
    }

    @Test func `a device is away, and its last connection ended because its copy refused a frame`() throws {
        func refused(_ facts: inout WhyFacts) {
            facts.closings = [
                WhyFacts.Closing(client: Self.device, time: 2, code: 1000, reason: "", stuck: 5),
                WhyFacts.Closing(client: Self.device, time: 1, code: 1000, reason: ""),
            ]
        }
        let story = try answer(refused)
        #expect(story.answer == .cannotApply && story.devices.map(\.state) == [.cannotApply])
        #expect(story.sentence.contains("cannot take in what it is sent: it ended 5 connections in a row for that"))
        #expect(story.sentence.contains("its last connection ended so, and it is away since 2023-11-14T22:13:20Z"))
        // It has the record all the same, or is signed out.
        let has = try answer { facts in
            refused(&facts)
            facts.devices[0].position = 40
        }
        #expect(has.answer == .delivered && has.devices.map(\.state) == [.deliveredAway])
        let revoked = try answer { facts in
            refused(&facts)
            facts.revoked = [Self.device: 9]
        }
        #expect(revoked.answer == .revoked)
        // Another device has it.
        let other = try answer { facts in
            refused(&facts)
            facts.devices.append(Self.device(Sample.id(8)))
            facts.connections = [WhyFacts.Connection(client: Sample.id(8), position: 40, isSlow: false)]
        }
        #expect(other.answer == .cannotApply)
        #expect(other.sentence.contains("device \(Self.device) does not have it yet: it cannot take in what"))
    }

    @Test func `servers that did not answer are named if no device is connected`() throws {
        let doubt = "1 of 2 other servers did not answer: what is connected there is not known"
        for position in [39, 40] as [SequenceNumber] {
            let story = try answer { facts in
                (facts.others, facts.silent) = (2, 1)
                facts.devices[0].position = position
            }
            #expect(story.sentence.contains(doubt) && story.text.contains(doubt))
        }
        #expect(try !answer { $0.others = 2 }.text.contains("did not answer"))
    }

    @Test func `a device is connected and behind`() throws {
        let story = try answer { facts in
            facts.connections = [WhyFacts.Connection(client: Self.device, position: 39, isSlow: true)]
        }
        #expect(story.answer == .behind && story.devices.map(\.state) == [.behind])
        #expect(story.sentence.contains("was sent everything up to #39, and the record's last change is #40"))
        #expect(story.sentence.contains("does not read what it is sent"))
    }

    @Test func `a device was sent it`() throws {
        let story = try answer { facts in
            facts.devices.append(Self.device(Sample.id(8)))
            facts.connections = [WhyFacts.Connection(client: Self.device, position: 40, isSlow: false)]
        }
        #expect(story.answer == .delivered && story.devices.map(\.state) == [.delivered, .away])
        #expect(story.sentence.hasPrefix("bob was sent \(Self.key): device \(Self.device) is connected"))
        #expect(story.sentence.contains("1 other devices are not connected"))
    }

    @Test func `refused writes on it and overwritten values are named, those of others are not`() throws {
        let story = try answer { facts in
            facts.refusals = [
                WhyFacts.Refusal(
                    client: Self.device, number: 4, time: 1, rejection: Rejection(.forbidden, "not yours"),
                    records: [Self.key], isOwed: true),
                WhyFacts.Refusal(
                    client: Self.device, number: 5, time: 1, rejection: Rejection(.gone, "elsewhere"),
                    records: [RecordKey(collection: "messages", id: Sample.id(99))], isOwed: false),
            ]
            facts.ledger = [
                LedgerEntry(
                    key: Self.key, scope: Self.scope, seq: 40,
                    value: OverwrittenValue(field: "text", rule: .lww, old: "a", new: "b"), oldAuthor: nil,
                    author: UserID("carl"), client: Sample.id(3), app: nil, time: 1)
            ]
        }
        #expect(story.text.contains("transaction 4: forbidden, not yours, which the device has not confirmed"))
        #expect(!story.text.contains("elsewhere"))
        #expect(story.text.contains(#"carl replaced text "a" by "b" without having seen it"#))
        #expect(story.text.hasSuffix(story.sentence))
    }
}
