import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) struct ModelFilterTests {
    private let room = UUID()

    private func store() async throws -> SyncStore {
        let store = try SyncStore.test()
        try await store.write { t in
            for number in 1...5 {
                t.create(
                    Note(
                        room: room, text: "n\(number)", likes: number, best: Double(number) / 2,
                        tags: number.isMultiple(of: 2) ? ["even"] : nil, done: number > 3 ? true : nil,
                        due: Date(timeIntervalSince1970: Double(number))))
            }
            t.create(Note(room: UUID(), text: "elsewhere"))
        }
        return store
    }

    private func texts(_ store: SyncStore, _ filter: ModelFilter<Note>) async throws -> [String] {
        try await store.repository(Note.self).readAll(where: filter, order: [.by(\.text)]).compactMap(\.text)
    }

    @Test func `properties are compared, combined and searched`() async throws {
        let store = try await store()
        let third = Date(timeIntervalSince1970: 3)
        #expect(try await texts(store, \.text == "n2") == ["n2"])
        #expect(try await texts(store, \.text != "n2").count == 5)
        #expect(try await texts(store, \.likes < 2) == ["n1"])
        #expect(try await texts(store, \.likes <= 2) == ["n1", "n2"])
        #expect(try await texts(store, \.due > third) == ["n4", "n5"])
        #expect(try await texts(store, \.due >= third) == ["n3", "n4", "n5"])
        #expect(try await texts(store, \.done == nil) == ["elsewhere", "n1", "n2", "n3"])
        #expect(try await texts(store, .isNil(\.done)) == ["elsewhere", "n1", "n2", "n3"])
        #expect(try await texts(store, \.done != nil) == ["n4", "n5"])
        #expect(try await texts(store, \.done != true) == ["elsewhere", "n1", "n2", "n3"])
        #expect(try await texts(store, !(\.done == true)) == ["elsewhere", "n1", "n2", "n3"])
        #expect(try await texts(store, .contains(\.tags, "even") && \.done == true) == ["n4"])
        #expect(try await texts(store, \.text == "n1" || \.text == "n3") == ["n1", "n3"])
        #expect(try await texts(store, \.room == room && \.likes < 2) == ["n1"])
        #expect(try await texts(store, \.syncState == .pending).count == 6)
        #expect(try await texts(store, .named(.equals("author", "ann")) && \.text == "n1") == ["n1"])
        #expect(try await texts(store, .all).count == 6)
        #expect(try await texts(store, !.all).isEmpty)
        #expect(try await texts(store, .all && \.text == "n1") == ["n1"])
        #expect(try await texts(store, .all || \.text == "n1").count == 6)
    }

    @Test func `values are found in lists and ranges`() async throws {
        let store = try await store()
        let all = try await store.repository(Note.self).readAll(where: \.room == room, order: [.by(\.text)])
        let second = Date(timeIntervalSince1970: 2), fourth = Date(timeIntervalSince1970: 4)
        #expect(try await texts(store, .is(\.id, oneOf: [all[0].id, all[4].id, UUID()])) == ["n1", "n5"])
        #expect(try await texts(store, .is(\.likes, oneOf: [2, 3, 9])) == ["n2", "n3"])
        #expect(try await texts(store, .is(\.likes, oneOf: [2, nil])) == ["elsewhere", "n2"])
        #expect(try await texts(store, .is(\.best, oneOf: [0.5, 1])) == ["n1", "n2"])
        #expect(try await texts(store, .is(\.done, oneOf: [true])) == ["n4", "n5"])
        #expect(try await texts(store, .is(\.text, oneOf: [String]())).isEmpty)
        #expect(try await texts(store, .is(\.due, in: second..<fourth)) == ["n2", "n3"])
        #expect(try await texts(store, .is(\.due, in: second...fourth)) == ["n2", "n3", "n4"])
        #expect(try await texts(store, .is(\.likes, in: 4..<9)) == ["n4", "n5"])
        #expect(try await texts(store, .is(\.syncState, oneOf: [.synced, .conflict])).isEmpty)
    }

    @Test func `a prefix is one of the text's characters, whatever follows`() async throws {
        let store = try SyncStore.test()
        let words = ["Mil", "Milk", "Mil\u{10ffff}x", "Mim", "mil", "Mi", "Mi\u{d7ff}a", "Mi\u{e000}"]
        try await store.write { t in for word in words { t.create(Note(room: room, text: word)) } }
        #expect(try await texts(store, .hasPrefix(\.text, "Mil")) == ["Mil", "Milk", "Mil\u{10ffff}x"])
        #expect(try await texts(store, .hasPrefix(\.text, "Mil\u{10ffff}")) == ["Mil\u{10ffff}x"])
        #expect(try await texts(store, .hasPrefix(\.text, "Mi\u{d7ff}")) == ["Mi\u{d7ff}a"])
        #expect(try await texts(store, .hasPrefix(\.text, "")).count == words.count)
        #expect(try await texts(store, .hasPrefix(\.text, "%")).isEmpty)
    }

    @Test func `a property without a field, or an impossible value, is an error of the query`() async throws {
        let store = try await store()
        var error = await #expect(throws: StoreError.self) { try await texts(store, \.shout == "N1") }
        #expect(error?.code == .unknownName)
        #expect(error?.message.contains("is no stored property of Note") == true, "\(error?.message ?? "")")
        error = await #expect(throws: StoreError.self) { try await texts(store, \.best > .infinity) }
        #expect(error?.code == .coding && error?.message.contains("no field can hold inf") == true)
        error = await #expect(throws: StoreError.self) {
            try await texts(store, .contains(\.tags, "x\0") && \.shout == "")
        }
        #expect(error?.code == .unknownName)
    }

    @Test func `records are ordered by several rules`() async throws {
        let store = try await store()
        let notes = store.repository(Note.self)
        let ordered = try await notes.readAll(
            where: \.room == room, order: [.by(\.done, .descending), .by(\.likes, .descending)], limit: 3)
        #expect(ordered.compactMap(\.text) == ["n5", "n4", "n3"])
        #expect(try await notes.readAll(where: .all, order: [.newestFirst], limit: 1).first?.text == "elsewhere")
        let named = try await notes.readAll(
            order: [.named(.ascending("done").then(.descending("likes")))], limit: 2)
        #expect(named.compactMap(\.text) == ["n3", "n2"])
        let error = await #expect(throws: StoreError.self) {
            try await notes.readAll(where: .all, order: [.by(\.shout)])
        }
        #expect(error?.code == .unknownName)
    }

    @Test func `pages in any order give each record once`() async throws {
        let store = try SyncStore.test()
        try await store.write { t in
            for number in 0..<40 {
                t.create(
                    Note(
                        room: room, text: "n\(number)", likes: number % 4 == 0 ? nil : number % 3,
                        due: number % 5 == 0 ? nil : Date(timeIntervalSince1970: Double(number / 7))))
            }
        }
        let notes = store.repository(Note.self)
        let orders: [[ModelOrder<Note>]] = [
            [], [.newestFirst], [.by(\.likes)], [.by(\.likes, .descending)],
            [.by(\.due, .descending), .by(\.likes)], [.by(\.due), .by(\.likes, .descending)],
            [.by(\.likes, .descending), .newestFirst], [.by(\.id)],
        ]
        for order in orders {
            let whole = try await notes.readAll(where: .all, order: order)
            var paged: [Note] = []
            while true {
                let page = try await notes.readAll(where: .all, order: order, limit: 7, after: paged.last)
                paged += page
                if page.count < 7 { break }
            }
            #expect(paged == whole, "\(order)")
        }
    }

    @Test func `a page continues from a record, also after its deletion`() async throws {
        let store = try await store()
        let notes = store.repository(Note.self)
        let first = try await notes.readAll(where: \.room == room, order: [.by(\.likes)], limit: 2)
        try await notes.delete(first[1].id)
        let next = try await notes.readAll(where: \.room == room, order: [.by(\.likes)], limit: 2, after: first[1])
        #expect(next.compactMap(\.text) == ["n3", "n4"])
        let error = await #expect(throws: StoreError.self) { try await notes.readAll(where: .all, after: first[1]) }
        #expect(error?.code == .notFound)
    }

    @Test func `counts are of matching records`() async throws {
        let store = try await store()
        let notes = store.repository(Note.self)
        #expect(try await notes.count() == 6)
        #expect(try await notes.count(where: \.likes > 3) == 2)
        #expect(try await notes.count(in: .of(room)) == 5)
        var counts = notes.observeCount(where: \.likes > 3).makeAsyncIterator()
        #expect(try await counts.next() == 2)
        try await notes.create(Note(room: room, likes: 9))
        #expect(try await counts.next() == 3)
    }

    @Test func `a snapshot and an observation read by properties`() async throws {
        let store = try await store()
        let seen = try await store.read { snapshot in
            (
                try snapshot.readAll(Note.self, where: \.likes > 3, order: [.by(\.likes, .descending)]).map(\.text),
                try snapshot.count(Note.self, where: \.likes > 3)
            )
        }
        #expect(seen.0 == ["n5", "n4"] && seen.1 == 2)
        var pages = store.repository(Note.self).observe(where: \.likes > 4).makeAsyncIterator()
        #expect(try await pages.next()?.count == 1)
        try await store.repository(Note.self).create(Note(room: room, likes: 7))
        #expect(try await pages.next()?.count == 2)
    }

    @Test func `a filter that no index answers is named in the diagnostics`() async throws {
        let store = try await store()
        let notes = store.repository(Note.self)
        let scope = ScopeID(record: room)
        let noon = Date(timeIntervalSince1970: 3)
        _ = try await notes.readAll(where: \.due > noon, in: scope)
        _ = try await notes.readAll(where: \.due > noon && \.likes == 4, in: scope)
        _ = try await notes.read(UUID())
        _ = try await notes.readAll(where: .is(\.id, oneOf: [UUID()]))
        _ = try await notes.readAll(where: .all)
        #expect(try await store.diagnostics().unindexed.isEmpty)
        _ = try await notes.readAll(where: \.likes == 4, in: scope)
        _ = try await notes.readAll(where: .named(.equals("text", "x").or(.equals("likes", 3))))
        _ = try await notes.count(where: .contains(\.tags, "even"))
        let found = try await store.diagnostics().unindexed.map { "\($0.collection) \($0.fields) \($0.reads)" }
        #expect(
            found == [
                #"notes ["likes", "text"] collection"#, #"notes ["tags"] collection"#, #"notes ["likes"] scope"#,
            ])
    }
}

extension Note {
    /// A computed property, which is not stored.
    fileprivate var shout: String { (text ?? "").uppercased() }
}
