import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) struct ObservationTests {
    @Test func `observers see the list now and after each relevant change`() async throws {
        let store = try SyncStore.test()
        let notes = store.repository(Note.self)
        let room = UUID()
        let scope = ScopeID(record: room)
        var pages = notes.observe(order: [.by(\.due, .descending)], limit: 2, in: scope).makeAsyncIterator()
        #expect(try await pages.next()?.map(\.text) == [])
        func note(_ number: Int, _ room: UUID) -> Note {
            Note(room: room, text: "\(number)", due: Date(timeIntervalSince1970: Double(number)))
        }
        try await notes.create(note(2, room))
        #expect(try await pages.next()?.map(\.text) == ["2"])
        try await notes.create(note(9, UUID()))
        try await notes.create(note(1, room))
        #expect(try await pages.next()?.map(\.text) == ["2", "1"])
        let newest = note(3, room)
        try await notes.create(newest)
        #expect(try await pages.next()?.map(\.text) == ["3", "2"])
        try await notes.delete(newest.id)
        #expect(try await pages.next()?.map(\.text) == ["2", "1"])
    }

    @Test func `one record is observed from before its creation to after its deletion`() async throws {
        let store = try SyncStore.test()
        let notes = store.repository(Note.self)
        let note = Note(room: UUID(), text: "a")
        var values = notes.observe(id: note.id).makeAsyncIterator()
        #expect(try await values.next() == .some(nil))
        try await notes.create(note)
        #expect(try await values.next()??.text == "a")
        try await notes.update(note.id) { $0.text = "b" }
        #expect(try await values.next()??.text == "b")
        try await notes.delete(note.id)
        #expect(try await values.next() == .some(nil))
    }

    @Test func `an observation ends with its task`() async throws {
        let store = try SyncStore.test()
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            for try await _ in store.repository(Note.self).observe() { start.yield() }
            return true
        }
        var starts = started.makeAsyncIterator()
        await starts.next()
        task.cancel()
        let ended = await task.result
        switch ended {
        case .success(let isOver): #expect(isOver)
        case .failure(let error): #expect(error is CancellationError)
        }
    }

    @Test func `an observation that cannot be read throws`() async throws {
        let store = try SyncStore.test()
        var values = store.repository(Note.self).observe(where: .named(.equals("nope", 1))).makeAsyncIterator()
        let error = await #expect(throws: StoreError.self) { _ = try await values.next() }
        #expect(error?.code == .unknownName)
    }

    @Test func `a receipt goes from queued to committed and then ends`() async throws {
        let store = try SyncStore.test()
        let bench = Bench(database: store.database)
        try bench.join(RecordKey.room(1).scope)
        let note = Note(room: UUID(RecordKey.room(1).id), text: "a")
        let receipt = try await store.repository(Note.self).create(note)
        var steps = receipt.steps.makeAsyncIterator()
        #expect(try await steps.next() == .queued)
        _ = try store.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999)
        #expect(try await steps.next() == .sending)
        let outcome = TransactionOutcome(number: 1, transaction: UniqueID(receipt.id), seq: 5, time: 6, rejection: nil)
        try bench.apply(settled: Settled(through: 1, outcomes: [outcome]))
        #expect(try await steps.next() == .committed(seq: 5, time: 6))
        #expect(try await steps.next() == nil)
    }

    @Test func `a receipt is found again after a restart`() async throws {
        let folder = try TemporaryFolder()
        let schema = try TestSchema.schema()
        let id: UUID
        do {
            let store = try await SyncStore.open(account: Bench.user, at: folder.url, schema: schema)
            id = try await store.repository(Room.self).create(Room(people: ["ann"])).id
        }
        let store = try await SyncStore.open(account: Bench.user, at: folder.url, schema: schema)
        let receipt = try #require(try await store.receipt(for: id))
        var steps = receipt.steps.makeAsyncIterator()
        #expect(try await steps.next() == .queued)
        #expect(try await store.receipt(for: UUID()) == nil)
        #expect(try await store.repository(Room.self).readAll().count == 1)
    }

    @Test func `a parked write is exported, edited and sent again`() async throws {
        let store = try SyncStore.test()
        let bench = Bench(database: store.database)
        let room = UUID()
        try bench.join(ScopeID(record: room))
        let receipt = try await store.repository(Note.self).create(Note(room: room, text: "too long"))
        let outcome = TransactionOutcome(
            number: 1, transaction: UniqueID(receipt.id), seq: 1, time: 2, rejection: Rejection(.quota, "full"))
        try bench.apply(settled: Settled(through: 1, outcomes: [outcome]))
        let parked = try #require(try await store.outbox.rejected().first)
        let export = try JSONReader.read(Array(parked.export().utf8)) { try $0.fields() }
        #expect(export["code"] == "quota" && export["message"] == "full")
        #expect(parked.export().contains("too long"))
        await #expect(throws: StoreError.self) { try await parked.edit { $0 = [] } }
        #expect(try await store.outbox.rejected().count == 1)
        let again = try await parked.edit { mutations in
            mutations[0].action = .create(Fields().inRoom(1))
        }
        #expect(again.id != receipt.id)
        #expect(try await store.outbox.rejected().isEmpty)
        let sent = try store.database.nextPush(after: 1, maxTransactions: 9, maxBytes: 10_000)
        #expect(sent.map(\.entry.id) == [UniqueID(again.id)])
    }

    @Test func `an unanswered write is listed with its reason and retried by hand`() async throws {
        let store = try SyncStore.test()
        let bench = Bench(database: store.database)
        let room = UUID()
        try bench.join(ScopeID(record: room))
        let notes = store.repository(Note.self)
        let one = try await notes.create(Note(room: room, text: "a"))
        let two = try await notes.create(Note(room: room, text: "b"))
        try store.database.withhold(1, reason: "reset")
        #expect(try await store.outbox.stalled().map(\.id) == [one.id, two.id])
        #expect(try await store.outbox.stalled().map(\.reason) == ["reset", nil])
        let outcomes = [one, two].enumerated().map { index, receipt in
            TransactionOutcome(
                number: Int64(index) + 1, transaction: UniqueID(receipt.id), seq: 1, time: 2,
                rejection: Rejection(.invalid, "no mutations"))
        }
        try bench.apply(settled: Settled(through: 2, outcomes: outcomes))
        for await status in store.status where status.stalled == 2 && status.pending == 0 { break }
        let inbox = await store.idleInbox()
        try await store.outbox.retryStalled()
        #expect(await inbox.names() == ["wrote"])
        #expect(try await store.outbox.stalled().isEmpty)
    }

    @Test func `a parked write is seen, retried and discarded`() async throws {
        let store = try SyncStore.test()
        let bench = Bench(database: store.database)
        try bench.join(RecordKey.room(1).scope)
        let receipt = try await store.repository(Note.self).create(Note(room: UUID(RecordKey.room(1).id), text: "a"))
        func refuse(_ id: UUID, _ number: Int64, _ from: String, _ to: String) throws {
            let outcome = TransactionOutcome(
                number: number, transaction: UniqueID(id), seq: 5, time: 6, rejection: Rejection(.quota, "full"))
            try bench.apply(from: from, to: to, settled: Settled(through: number, outcomes: [outcome]))
        }
        try refuse(receipt.id, 1, "c0", "c1")
        var steps = receipt.steps.makeAsyncIterator()
        #expect(try await steps.next() == .rejected(Rejection(.quota, "full")))
        let parked = try #require(try await store.outbox.rejected().first)
        #expect(parked.id == receipt.id)
        #expect(parked.rejection.code == .quota)
        #expect(parked.mutations.count == 1)
        let again = try await parked.retry()
        #expect(try await store.repository(Note.self).readAll().count == 1)
        try refuse(again.id, 2, "c1", "c2")
        try await store.outbox.rejected().first?.discard()
        #expect(try await store.outbox.rejected().isEmpty)
        var pending = store.outbox.pendingCount.makeAsyncIterator()
        #expect(try await pending.next() == 0)
    }

    @Test func `accounts have files of their own`() {
        #expect(DatabaseFile.name(UserID("ann")) != DatabaseFile.name(UserID("Ann")))
        #expect(DatabaseFile.name(UserID("a/../b")).hasPrefix("a____b-"))
        #expect(DatabaseFile.name(UserID(String(repeating: "é", count: 64))).utf8.count < 100)
    }
}
