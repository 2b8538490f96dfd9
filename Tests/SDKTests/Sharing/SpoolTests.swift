import Foundation
import GRDB
import Testing
import TidemarkExtension
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Writes of extensions reach the outbox once, under their user, in their order; or the reason why not is reported.
@Suite(.timeLimit(.minutes(5))) struct SpoolTests {
    @Test func `spooled writes are adopted when the store opens, in their order, with their ids and times`()
        async throws
    {
        let bench = try SpoolBench()
        try await bench.prepare()
        let ids = try ["one", "two", "three"].map { try bench.write($0) }
        let store = try await bench.open()
        #expect(try await store.texts() == ["one", "two", "three"])
        #expect(try await store.waiting().suffix(3) == ids.map { $0.uuidString.lowercased() }.suffix(3))
        #expect(try await store.diagnostics().outbox.last?.created == Date(timeIntervalSince1970: 5))
        #expect(try bench.spool().names().isEmpty)
        #expect(try await store.receipt(for: ids[0]) != nil)
        #expect(try await store.adoptSpool() == SpoolAdoption())
    }

    @Test func `a clock that goes back changes no order`() async throws {
        let bench = try SpoolBench()
        try await bench.prepare()
        for (text, time) in [("one", 9_000), ("two", 4_000), ("three", 4_000)] as [(String, Milliseconds)] {
            bench.setClock(time)
            try bench.write(text)
        }
        try await bench.reopen { store async throws in #expect(try await store.texts() == ["one", "two", "three"]) }
    }

    @Test func `a process that ends between the commit and the removal of the files adopts each once`() async throws {
        let bench = try SpoolBench()
        try await bench.prepare()
        try bench.write("one")
        try bench.write("two")
        let group = bench.folder.url.appending(path: "group")
        try FileManager.default.copyItem(at: group, to: bench.folder.url.appending(path: "before"))
        let before = try await bench.reopen { store async throws in try await store.waiting() }
        // Twice: the list must survive an adoption that removes the files again.
        for _ in 0..<2 {
            try FileManager.default.removeItem(at: group)
            try FileManager.default.copyItem(at: bench.folder.url.appending(path: "before"), to: group)
            try await bench.reopen { store async throws in
                #expect(try await store.waiting() == before)
                #expect(try await store.outbox.rejected().isEmpty)
                #expect(try await store.texts() == ["one", "two"])
            }
            #expect(try bench.spool().names().isEmpty)
        }
    }

    @Test func `an adopted write is forgotten once its file is deleted`() async throws {
        let bench = try SpoolBench()
        try await bench.prepare()
        try bench.write("one")
        let store = try await bench.open()
        try bench.write("two")
        #expect(try await store.adoptSpool().adopted.count == 1)
        let noted = try await store.reader.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM tidemark_spooled") }
        #expect(noted == 1)
    }

    @Test func `another user's spooled writes stay until that user is back`() async throws {
        let bench = try SpoolBench()
        try await bench.prepare()
        try bench.write("of ann")
        let bob = try await bench.open(UserID("bob"))
        #expect(try await bob.adoptSpool().writesOfOtherUsers == 1)
        #expect(try await bob.waiting().isEmpty)
        #expect(try bench.shared.account == "bob")
        try await bob.close()
        try await bench.reopen { ann async throws in #expect(try await ann.texts() == ["of ann"]) }
    }

    @Test func `nothing is written before the app's first start and after a sign-out`() async throws {
        let bench = try SpoolBench()
        #expect(throws: SharingError.self) { try bench.write("too early") }
        try await bench.prepare()
        try bench.write("in time")
        let store = try await bench.open()
        try bench.write("kept")
        try await store.signOut(keeping: .pending)
        let error = #expect(throws: SharingError.self) { try bench.write("too late") }
        #expect(error?.code == .notSignedIn)
        try await bench.reopen { store async throws in #expect(try await store.texts() == ["in time", "kept"]) }
        let last = try await bench.open()
        try bench.write("gone")
        try await last.signOut(keeping: .nothing)
        #expect(!FileManager.default.fileExists(atPath: bench.spool().url.path))
    }

    @Test
    func `a cut, foreign, too large or newer file is set aside and reported, and the others are adopted`()
        async throws
    {
        let bench = try SpoolBench()
        try await bench.prepare()
        try bench.write("first")
        let (spool, files) = (bench.spool(), FileManager.default)
        let name = try #require(try spool.names().first)
        let whole = try Data(contentsOf: spool.url.appending(path: name))
        /// Plants another write's file, with other bytes.
        func plant(_ stamp: Int, _ bytes: Data) throws {
            let id = UniqueID(high: 9, low: UInt64(stamp))
            try bytes.write(to: spool.url.appending(path: "000000000000000\(stamp)-\(id).spool"))
        }
        try plant(1, whole.prefix(whole.count - 3))
        try plant(2, whole.prefix(20))
        var changed = whole
        changed[changed.count - 5] ^= 1
        try plant(3, changed)
        let text = String(decoding: whole, as: UTF8.self)
        try plant(4, Data(text.replacing("tidemark spool 1", with: "tidemark spool 2", maxReplacements: 1).utf8))
        try plant(5, Data("#!/bin/sh\nexit 0\n".utf8))
        // Whole, and under another name than it contains: a copy.
        try plant(6, whole)
        try files.createDirectory(
            at: spool.url.appending(path: "0000000000000007-\(UniqueID(high: 9, low: 7)).spool"),
            withIntermediateDirectories: false)
        try Data("x".utf8).write(to: spool.url.appending(path: "note.txt"))
        try bench.write("last")
        let store = try await bench.open()
        #expect(try await store.texts() == ["first", "last"])
        #expect(try spool.names().isEmpty)
        #expect(try spool.namesAside().count == 8)
        #expect(try await store.diagnostics().sharing?.setAside.count == 8)
        try plant(8, whole.prefix(40))
        let events = store.events
        let adoption = try await store.adoptSpool()
        #expect(adoption.faults.map(\.reason) == [.cut])
        #expect(adoption.faults.first.map { files.fileExists(atPath: $0.file.path) } == true)
        for await event in events {
            guard case .spoolFault(let file, let reason) = event else { continue }
            #expect(file == adoption.faults.first?.file.lastPathComponent && reason == "cut" && event.isAlert)
            break
        }
    }

    @Test func `a file with one changed letter is not adopted`() async throws {
        let bench = try SpoolBench()
        try await bench.prepare()
        try bench.write("paid 100")
        let spool = bench.spool()
        let file = spool.url.appending(path: try #require(try spool.names().first))
        let text = try String(contentsOf: file, encoding: .utf8)
        try Data(text.replacing("paid 100", with: "paid 900").utf8).write(to: file)
        let store = try await bench.open()
        #expect(try await store.texts().isEmpty)
        #expect(try spool.namesAside() == [file.lastPathComponent])
        // With its original bytes, it is tried again at the next opening.
        try await store.close()
        try Data(text.utf8).write(to: spool.aside.appending(path: file.lastPathComponent))
        try await bench.reopen { store async throws in #expect(try await store.texts() == ["paid 100"]) }
    }

    @Test func `each reason for setting aside has its name`() async throws {
        let bench = try SpoolBench(limits: .small)
        try await bench.prepare()
        let big = SharedFolder(bench.shared.url)
        let store = try await bench.open()
        try big.write { $0.create(Note(room: bench.room.id, text: String(repeating: "x", count: 200_000))) }
        try big.write { $0.create(Elsewhere()) }
        let reasons = try await store.adoptSpool().faults.map(\.reason)
        #expect(reasons == [.tooLarge, .unknownCollection])
    }

    @Test func `a write that only a newer version of the app knows is adopted at its next opening`() async throws {
        let bench = try SpoolBench()
        try await bench.prepare()
        try bench.shared.write { $0.create(Elsewhere()) }
        let store = try await bench.open()
        #expect(try await store.diagnostics().sharing?.setAside.count == 1)
        try await store.close()
        let text = TestSchema.text.replacing(
            "\"people\": {\"scope\"",
            with: "\"elsewhere\": {\"scope\": {\"shared\": \"directory\"}, \"fields\": {}}, \"people\": {\"scope\"")
        let newer = try await bench.open(Bench.user, text)
        #expect(try await newer.diagnostics().sharing?.setAside == [])
        #expect(try await newer.waiting().count == 2)
    }

    @Test func `old names are understood when the app has new ones`() async throws {
        let bench = try SpoolBench()
        try await bench.prepare()
        try bench.write("kept")
        let text = TestSchema.text.replacing("\"notes\": {", with: "\"memos\": {\"was\": \"notes\", ")
            .replacing("\"text\": {\"type\"", with: "\"body2\": {\"was\": \"text\", \"type\"")
        let store = try await bench.open(Bench.user, text)
        let rows = try await store.read { try $0.rows("SELECT body2 FROM memos") }
        #expect(rows.first?["body2"] == "kept")
    }

    @Test func `a write that the schema refuses is parked with its payload`() async throws {
        let bench = try SpoolBench()
        try await bench.prepare()
        let (stranger, text) = (UUID(), String(repeating: "x", count: 101))
        let id = try bench.write(text)
        try bench.shared.write { $0.delete(Note.self, stranger) }
        try bench.write("fits")
        let store = try await bench.open()
        #expect(try await store.texts() == ["fits"])
        let parked = try await store.outbox.rejected()
        #expect(parked.map(\.rejection.code) == [.tooLarge, .notFound])
        let first = try #require(parked.first)
        #expect(first.id == id && first.export().contains(text))
        try await first.edit { mutations in
            guard let last = mutations.popLast(), case .create(var fields) = last.action else { return }
            fields["text"] = "cut"
            mutations.append(Mutation(key: last.key, action: .create(fields)))
        }
        #expect(try await store.texts() == ["fits", "cut"])
        #expect(try await store.outbox.rejected().count == 1)
    }

    @Test func `a change is merged by the rules of its fields, and an action sets one field`() async throws {
        let bench = try SpoolBench()
        try await bench.prepare()
        let before = Note(room: bench.room.id, text: "a", likes: 3, best: 2, tags: ["x", "y"])
        var store = try await bench.open()
        try await store.repository(Note.self).create(before)
        try await store.close()
        var after = before
        (after.text, after.likes, after.best, after.tags) = (nil, 5, 9, ["y", "z"])
        try bench.shared.write { batch in
            batch.update(after, from: before)
            batch.set("due", .date(Date(timeIntervalSince1970: 7)), of: Note.self, before.id)
        }
        try bench.shared.write { batch in
            batch.set("best", 4.0, of: Note.self, before.id)
            batch.set("done", true, of: Note.self, before.id)
        }
        store = try await bench.open()
        try await store.repository(Note.self).update(before.id) { note in note.likes = (note.likes ?? 0) + 10 }
        let note = try #require(try await store.repository(Note.self).read(before.id))
        #expect(note.text == nil && note.likes == 15 && note.best == 9 && note.tags == ["y", "z"])
        #expect(note.due == Date(timeIntervalSince1970: 7) && note.done == true)
    }

    @Test func `a change marks the values that the extension saw, and not later ones`() async throws {
        let bench = try SpoolBench()
        try await bench.prepare()
        let before = try await bench.reopen { store async throws in
            let copy = Bench(database: store.database)
            try copy.join(RecordKey.room(1).scope)
            try copy.apply(.note(1, seq: 5, ["text": "a"]))
            let before = try #require(try await store.repository(Note.self).read(UUID(RecordKey.note(1).id)))
            try copy.apply(from: "c1", to: "c2", .note(1, seq: 6, born: 5, ["text": "theirs"]))
            return before
        }
        var after = before
        after.text = "mine"
        try bench.shared.write { [after] batch in batch.update(after, from: before) }
        let store = try await bench.open()
        let sent = try store.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999)
            .flatMap { try $0.entry.content.get().mutations }.flatMap(\.patches)
        let field = try #require(store.schema.collection("notes")?.field("text"))
        #expect(sent == [NamedPatch("text", .set("mine"), seen: ValueMark("a", of: field))])
    }

    @Test func `bytes are kept with their record, and set aside with it if there is no space`() async throws {
        let bench = try SpoolBench()
        try await bench.prepare()
        let jpeg = Data((0..<3_000).map { UInt8($0 % 251) })
        let scope = ScopeID(record: bench.room.id)
        for bytes in [jpeg, jpeg + jpeg] {
            try bench.shared.write { batch in
                let digest = batch.addBlob(bytes, in: scope)
                batch.create(Note(room: bench.room.id, file: digest.text))
            }
        }
        var cache = CachePolicy()
        cache.blobs.maxBytes = 4_000
        let store = try await bench.open(cache: cache)
        #expect(try await store.blobs.unsent().map(\.digest) == [BlobDigest(of: jpeg)])
        #expect(try await store.blobs.read(BlobDigest(of: jpeg), in: scope) == jpeg)
        #expect(try await store.repository(Note.self).readAll().count == 1)
        let aside = try #require(try bench.spool().namesAside().first)
        #expect(try Data(contentsOf: bench.spool().aside.appending(path: aside)).count > 6_000)
    }

    @Test func `the spool is bounded by writes and by bytes, and a write by its own`() async throws {
        let bench = try SpoolBench(limits: .small)
        try await bench.prepare()
        func code(_ body: (inout SpoolBatch) throws -> Void) -> SharingError.Code? {
            do {
                try bench.shared.write(body)
                return nil
            } catch { return (error as? SharingError)?.code }
        }
        let note = Note(room: bench.room.id, text: "x")
        #expect(code { batch in for _ in 0..<5 { batch.delete(Note.self, note.id) } } == .tooLarge)
        #expect(code { $0.create(Note(room: note.id, text: String(repeating: "x", count: 2_000))) } == .tooLarge)
        #expect(code { $0.addBlob(Data(count: 3_001), in: ScopeID("a")) } == .tooLarge)
        #expect(code { $0.create(Note(room: note.id, weight: .infinity)) } == .coding)
        #expect(code { $0.addBlob(Data(count: 3_000), in: ScopeID("a")) } == nil)
        #expect(code { $0.addBlob(Data(count: 3_000), in: ScopeID("b")) } == .full)
        for _ in 0..<2 { #expect(code { $0.create(note) } == nil) }
        let error = #expect(throws: SharingError.self) { try bench.write("one too many") }
        #expect(error?.code == .full && error?.message.hasPrefix("3 writes already wait") == true)
        #expect(try bench.spool().names().count == 3)
    }

    @Test func `an unfinished file of an extension is removed after an hour and reported`() async throws {
        let bench = try SpoolBench()
        try await bench.prepare()
        try bench.write("whole")
        let part = bench.spool().url.appending(path: ".part-1")
        try Data("tide".utf8).write(to: part)
        let young = try await bench.open(environment: .system)
        #expect(try await young.adoptSpool().unfinished == 0)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 9)], ofItemAtPath: part.path)
        #expect(try await young.adoptSpool().unfinished == 1)
        #expect(try await young.texts() == ["whole"])
    }

    @Test func `an unusable folder does not stop a store from opening, and is reported`() async throws {
        let bench = try SpoolBench()
        try await bench.prepare()
        try FileManager.default.removeItem(at: bench.shared.url)
        try Data().write(to: bench.shared.url)
        let store = try await bench.open()
        await #expect(throws: SharingError.self) { try await store.adoptSpool() }
        #expect(throws: SharingError.self) { try bench.write("nowhere") }
        try FileManager.default.removeItem(at: bench.shared.url)
        #expect(try await store.adoptSpool() == SpoolAdoption())
        try bench.write("somewhere")
        #expect(try await store.adoptSpool().adopted.count == 1)
    }

    @Test func `a round and the return to the foreground adopt`() async throws {
        let bench = try SpoolBench()
        try await bench.prepare()
        let store = try await bench.open()
        try bench.write("round")
        await store.runOnce(deadline: .seconds(5))
        #expect(try await store.texts() == ["round"])
        store.pause()
        try store.connect(to: "http://127.0.0.1:1", transport: NobodyThere()) { "token" }
        try bench.write("foreground")
        store.resume()
        for try await texts in store.observe({ try $0.readAll(Note.self, "").compactMap(\.text) })
        where texts.count == 2 {
            #expect(texts == ["round", "foreground"])
            break
        }
        await store.disconnect()
    }
}

/// A collection that the schema does not have.
private struct Elsewhere: RecordModel {
    static let collection = "elsewhere"
    var id = UUID()
}

extension SharingLimits {
    /// Limits of three writes and 4,000 bytes.
    fileprivate static var small: SharingLimits {
        var limits = SharingLimits()
        (limits.maxWrites, limits.maxBytes, limits.maxSteps) = (3, 4_500, 4)
        (limits.maxWriteBytes, limits.maxBlobBytes) = (1_000, 3_000)
        return limits
    }
}
