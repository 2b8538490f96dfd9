import Foundation
import GRDB
import Testing
import TidemarkModel

@testable import Tidemark

private let searched = """
    {"tidemark": 1, "version": 2, "collections": {
      "rooms": {"scope": "self", "members": "people", "fields": {"people": {"type": "set", "required": true}}},
      "notes": {"scope": "room", "fields": {
        "room": {"type": "reference", "required": true, "merge": "immutable"},
        "text": {"type": "string", "search": true}, "title": {"type": "string", "search": true}}}}}
    """

@Suite(.timeLimit(.minutes(5))) struct SearchTests {
    static let schema = searched
    /// The SQL name of the notes' full-text index.
    static let index = "\"tidemark_search(notes)\""

    /// A statement that runs an FTS5 command on it.
    static func command(_ command: String) -> String { "INSERT INTO \(index) \(command)" }

    struct Entry: SyncModel, Equatable {
        static let collection = "notes"
        var id = UUID()
        var room: UUID
        var text: String?
        var title: String?
    }

    private let folder: TemporaryFolder
    private let room = UUID()

    init() throws { folder = try TemporaryFolder() }

    private func store(_ texts: [String], schema: String = searched) async throws -> SyncStore {
        let store = try await SyncStore.open(
            account: Bench.user, at: folder.url, schema: try TestSchema.schema(schema))
        try await store.write { t in
            for text in texts { t.create(Entry(room: room, text: text)) }
        }
        return store
    }

    private func found(_ store: SyncStore, _ text: String, _ order: SearchOrder<Entry> = .newestFirst) async throws
        -> [String]
    {
        try await store.search(text, in: Entry.self, order: order).compactMap(\.model.text)
    }

    @Test func `words are found by their beginnings, in any case, with or without accents`() async throws {
        let store = try await store(["The café opens at noon", "Cafeteria closed", "nothing here"])
        #expect(try await found(store, "caf") == ["Cafeteria closed", "The café opens at noon"])
        #expect(try await found(store, "CAFÉ noon") == ["The café opens at noon"])
        #expect(try await found(store, "noon cafe") == ["The café opens at noon"])
        #expect(try await found(store, "feteria").isEmpty)
        #expect(try await found(store, "").isEmpty)
        #expect(try await found(store, "  ").isEmpty)
    }

    @Test func `text in scripts without spaces is found by any part, other text by its words`() async throws {
        let store = try await store([
            "我在北京大学学习", "東京タワーに行きます", "ภาษาไทยง่ายมาก", "Привет, мир", "안녕하세요 세계", "مرحبا بالعالم", "party 🎉 now",
            "mix北京mix",
        ])
        #expect(try await found(store, "北京") == ["mix北京mix", "我在北京大学学习"])
        #expect(try await found(store, "京大学") == ["我在北京大学学习"])
        #expect(try await found(store, "学") == ["我在北京大学学习"])
        #expect(try await found(store, "京北").isEmpty)
        #expect(try await found(store, "タワー") == ["東京タワーに行きます"])
        #expect(try await found(store, "ไทย") == ["ภาษาไทยง่ายมาก"])
        #expect(try await found(store, "прив") == ["Привет, мир"])
        #expect(try await found(store, "안녕") == ["안녕하세요 세계"])
        #expect(try await found(store, "مرح") == ["مرحبا بالعالم"])
        #expect(try await found(store, "🎉") == ["party 🎉 now"])
        #expect(try await found(store, "mix北") == ["mix北京mix"])
    }

    @Test(arguments: [
        "\"", "\"\"\"", "*", "a OR", "AND", "NOT x", "NEAR(a b)", "text:a", "(", ")", "a*b", "^a", "-", "{a}", "a + b",
        "'; DROP TABLE notes; --", "\u{0}a", "a\u{0}\"", "\\", "!!!", "日 \"本", "a\"\u{301}b OR", "\0\u{301}a",
        "\u{200b}", "%_",
        String(repeating: "a ", count: 300),
        String(repeating: "\"", count: 600), String(repeating: "京", count: 700),
    ])
    func `no typed text is an error`(typed: String) async throws {
        let store = try await store(["a OR b", "text a"])
        for order in [SearchOrder<Entry>.relevance, .newestFirst] { _ = try await found(store, typed, order) }
        #expect(try await found(store, "a or") == ["a OR b"])
    }

    @Test func `an index follows writes, and only them`() async throws {
        let store = try await store(["alpha one", "alpha two"])
        let entries = store.repository(Entry.self)
        let one = try #require(try await entries.readAll().first { $0.text == "alpha one" })
        try await entries.update(one.id) { $0.text = "beta one" }
        #expect(try await found(store, "alpha") == ["alpha two"])
        #expect(try await found(store, "beta") == ["beta one"])
        try await entries.update(one.id) { $0.title = "gamma" }
        #expect(try await found(store, "gamma") == ["beta one"])
        try await entries.delete(one.id)
        #expect(try await found(store, "beta").isEmpty)
        #expect(try await found(store, "one").isEmpty)
        try await store.database.writer.write { db in
            try db.execute(sql: SearchTests.command("(\(SearchTests.index)) VALUES ('integrity-check')"))
        }
    }

    @Test func `relevance puts the densest first, and the other order the newest`() async throws {
        let store = try await store([
            "tide tide tide", "tide", "a long text in which the tide is one word among many others",
        ])
        #expect(try await found(store, "tide", .relevance).first == "tide tide tide")
        #expect(try await found(store, "tide", .relevance).last?.hasPrefix("a long text") == true)
        #expect(try await found(store, "tide", .newestFirst).first?.hasPrefix("a long text") == true)
        #expect(try await store.search("tide", in: Entry.self, order: .newestFirst, limit: 1).count == 1)
    }

    @Test func `a search is confined to a scope and a filter`() async throws {
        let store = try await store(["tide here"])
        let elsewhere = Entry(room: UUID(), text: "tide there", title: "x")
        try await store.repository(Entry.self).create(elsewhere)
        let entries = store.repository(Entry.self)
        #expect(try await entries.search("tide", in: .of(room)).map(\.model.text) == ["tide here"])
        for order in [SearchOrder<Entry>.relevance, .by(\.text), .records(.named(.ascending("text")))] {
            let hits = try await entries.search("tide", where: \.title == "x", order: order)
            #expect(hits.map(\.model) == [elsewhere])
        }
        await #expect(throws: StoreError.self) { try await entries.search("tide", where: .named(.equals("nope", "x"))) }
    }

    @Test func `a snippet marks the matches`() async throws {
        let words = (1...40).map { "word\($0)" }.joined(separator: " ")
        let store = try await store(["\(words) the Café is open \(words)", "我在北京大学学习"])
        let hit = try #require(try await store.search("cafe", in: Entry.self).first)
        #expect(hit.snippet.pieces.filter(\.isMatch).map(\.text) == ["Café"])
        #expect(hit.snippet.text.hasPrefix("…") && hit.snippet.text.hasSuffix("…"))
        let chinese = try #require(try await store.search("北京", in: Entry.self).first)
        #expect(chinese.snippet.pieces.filter(\.isMatch).map(\.text).joined() == "北京")
        #expect(chinese.snippet.text == "我在北京大学学习")
    }

    @Test func `an observed search sees arriving records`() async throws {
        let store = try await store(["tide one"])
        let room = room
        var values = store.repository(Entry.self).observeSearch("tide", order: .newestFirst).makeAsyncIterator()
        #expect(try await values.next()?.map(\.model.text) == ["tide one"])
        try await store.repository(Entry.self).create(Entry(room: room, text: "tide two"))
        #expect(try await values.next()?.map(\.model.text) == ["tide two", "tide one"])
    }

    @Test func `a field marked later is found in existing rows, and an unmarked one is not`() async throws {
        let plain = searched.replacing(", \"search\": true", with: "").replacing(
            "\"version\": 2", with: "\"version\": 1")
        do {
            let before = try await store(["tide old"], schema: plain)
            await #expect(throws: StoreError.self) { try await before.search("tide", in: Entry.self) }
        }
        do { #expect(try await found(try await store(["tide new"]), "tide") == ["tide new", "tide old"]) }
        let after = try await store([], schema: plain)
        await #expect(throws: StoreError.self) { try await after.search("tide", in: Entry.self) }
        let left = try await after.database.writer.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master WHERE name LIKE 'tidemark_search%'")
        }
        #expect(left == 0)
    }
}
