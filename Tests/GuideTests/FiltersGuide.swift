import Foundation
import Testing
import Tidemark

// Compiled, not run: these sequences end with their task.

func look(through cards: Repository<Card>, _ store: SyncStore, on board: UUID) async throws {
    let open = try await cards.readAll(
        where: \.boardId == board && \.isDone != true, order: [.by(\.phase), .by(\.due, .descending)], limit: 50)
    for try await page in cards.observe(where: \.boardId == board, order: [.by(\.title)]) { print(page.count) }
    let number = try await cards.count(where: \.phase == .open)
    for try await number in cards.observeCount(where: \.phase == .open) { print(number) }
    let both = try await store.read { snapshot in
        try snapshot.readAll(Card.self, where: .all, order: [.newestFirst]).count + snapshot.count(Card.self)
    }
    print(open.count, number, both)
}

struct Heading: SyncModel {
    static let collection = "cards"
    var id = UUID()
    var boardID: UUID
    var title: String
    enum CodingKeys: String, CodingKey { case id, boardID = "boardId", title }
    static var fieldNames: [PartialKeyPath<Self>: String] { [\.boardID: "boardId"] }
}

@Suite(.timeLimit(.minutes(5))) struct FiltersGuide {
    private let account = UserID("ann")
    private let today = Date(timeIntervalSince1970: 1_760_000_000)

    @Test func `the guide's filters by properties find their records`() async throws {
        let (store, _) = try await store()
        let made = Board(members: ["ann"])
        let milk = Card(boardId: made.id, title: "Milk", phase: .open, due: today, tags: ["white"])
        let wood = Card(boardId: made.id, title: "Wood", phase: .open, due: today, tags: ["red"])
        try await store.write { batch in
            batch.create(made)
            batch.create(milk)
            batch.create(wood)
        }
        let (cards, board, first, second) = (store.repository(Card.self), made.id, milk.id, UUID())
        let (tomorrow, phase) = (today.addingTimeInterval(86_400), Card.Phase?.some(.closed))

        let soon = try await cards.readAll(where: .is(\.due, in: today..<tomorrow) && !.contains(\.tags, "red"))
        let chosen = try await cards.readAll(where: .is(\.id, oneOf: [first, second]) || .hasPrefix(\.title, "Mi"))
        var filter: ModelFilter<Card> = .all
        if let phase { filter = filter && \.phase == phase }
        let found = try await cards.readAll(where: filter && .named(.equals("author", "ann")))
        #expect(soon.map(\.title) == ["Milk"] && chosen.map(\.title) == ["Milk"] && found.isEmpty)

        let order: [ModelOrder<Card>] = [.by(\.due, .descending), .by(\.title)]
        var page = try await cards.readAll(where: \.boardId == board, order: order, limit: 50)
        while let last = page.last {
            page = try await cards.readAll(where: \.boardId == board, order: order, limit: 50, after: last)
        }

        let headings = try await store.repository(Heading.self).readAll(
            where: \.boardID == board, order: [.by(\.title)])
        #expect(headings.map(\.title) == ["Milk", "Wood"])

        #expect(try await !store.diagnostics().unindexed.isEmpty)
    }

    // Compiled, not run.
    private func show(_ cards: Repository<Card>) async throws {
        let listed = cards.joining(\.boardId, Board.self)
        for row in try await listed.readAll(where: \.isDone != true, order: [.by(\.due)], limit: 50) {
            print(row.title, row.joined?.members.count ?? 0)
        }
        for try await page in listed.observe(joined: .contains(\.members, "ann"), limit: 50) { print(page.count) }
    }

    @Test func `references narrow a list, and SQL does what a filter cannot`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tidemark-guide-\(UUID())")
        // A temporary folder that remains does no harm.
        defer { try? FileManager.default.removeItem(at: folder) }
        let (store, schema) = try await store()
        let (hers, theirs) = (Board(members: ["ann"]), Board(members: ["ann", "bob"]))
        try await store.write { batch in
            batch.create(hers)
            batch.create(theirs)
            batch.create(Card(boardId: hers.id, title: "Milk", phase: .open, due: today))
            batch.create(Card(boardId: theirs.id, title: "Wood", phase: .open))
        }
        let cards = store.repository(Card.self)

        let isShared = ModelFilter<Card>.refers(\.boardId, to: Board.self, where: .contains(\.members, "bob"))
        let shared = try await cards.readAll(where: isShared && \.isDone != true)
        #expect(shared.map(\.title) == ["Wood"])
        #expect(try await cards.joining(\.boardId, Board.self).readAll().map(\.joined?.id) == [hers.id, theirs.id])

        struct Load: Decodable { var phase: Card.Phase; var number: Int; var soonest: Date? }
        let loads = try await store.read { snapshot in
            try snapshot.rows(
                "SELECT phase, count(*) AS number, min(due) AS soonest FROM cards WHERE title <> ? GROUP BY phase",
                ["Draft"], as: Load.self)
        }
        #expect(loads.map(\.number) == [2] && loads.first?.soonest == today)

        let models: [any SyncModel.Type] = [Board.self, Card.self, Heading.self]
        let checked = try await SyncStore.open(account: account, at: folder, schema: schema, models: models)
        try await checked.close()

        for slow in try await store.diagnostics().unindexed {
            print(slow.collection, slow.fields, "reads the whole", slow.reads)
        }
    }

    private func store() async throws -> (SyncStore, Schema) {
        let schema = try CardSchema.schema()
        return (try SyncStore.inMemory(account: account, schema: schema), schema)
    }
}
