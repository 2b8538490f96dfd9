import Foundation
import Testing
import Tidemark

@Suite(.timeLimit(.minutes(5))) struct FindingGuide {
    @Test func `the guide's searches find their records`() async throws {
        let store = try SyncStore.inMemory(account: UserID("ann"), schema: try CardSchema.schema())
        let made = Board(members: ["ann"])
        let tomorrow = Date(timeIntervalSinceNow: 86_400)
        let first = Card(boardId: made.id, title: "Milk and bread", phase: .open, due: Date(), tags: ["red"])
        let second = Card(boardId: made.id, title: "Wood", phase: .closed)
        try await store.write { batch in
            batch.create(made)
            batch.create(first)
            batch.create(second)
        }
        let (cards, board, id, other) = (store.repository(Card.self), made.id, first.id, second.id)

        let one = try await cards.read(id)
        let ofBoard = try await cards.readAll(in: .of(board))  // what belongs to the board's scope
        let some = try await cards.readAll(where: .is(\.id, oneOf: [id, other]))
        let same = try await cards.readAll(where: \.boardId == board)  // by a reference
        #expect(one?.title == "Milk and bread" && ofBoard.count == 2 && some.count == 2 && same.count == 2)

        let urgent = Filter.equals("phase", "open").and(.less("due", .date(tomorrow)))
        let tagged = Filter.contains("tags", "red").or(.equals("due", .null).negated)
        let unsent = Filter.differs("syncState", "synced")
        let page = try await cards.readAll(
            where: .named(urgent.and(tagged.or(unsent))), order: [.named(.descending("due"))], limit: 50,
            in: .of(board))
        #expect(page.map(\.id) == [id])
        #expect(try await cards.search("milk bre").map(\.model.id) == [id])
    }
}

// Compiled, not run: these sequences end with their task.

func look(through cards: Repository<Card>, of board: UUID) async throws {
    for hit in try await cards.search("milk bre", order: .newestFirst, limit: 20, in: .of(board)) {
        print(hit.model.title, hit.snippet.pieces.filter(\.isMatch).map(\.text))
    }
    for try await hits in cards.observeSearch("milk") { print(hits.count) }
}

func openKeepingMore(_ user: UserID, at folder: URL, _ schema: Schema) async throws -> SyncStore {
    var cache = CachePolicy()
    cache.maxBytes = 500 * 1_000_000  // nil: everything stays
    let store = try await SyncStore.open(account: user, at: folder, schema: schema, cache: cache)
    return store
}

func lookFurther(through cards: Repository<Card>, of board: UUID) async throws {
    for try await history in cards.olderRecords(in: .of(board)) {
        if history.exist, !history.isLoading { try await cards.loadOlder(in: .of(board), count: 50) }
    }
}

func follow(a id: UUID, through cards: Repository<Card>, of board: UUID) async throws {
    guard let linked = try await cards.fetch(id, in: .of(board)) else { return }  // there is none
    print(linked.title)
}

func keep(_ store: SyncStore, _ board: UUID, _ archive: UUID) async throws {
    try await store.setRetention(.pinned, in: .of(board))  // nothing of it goes, until it is said otherwise
    try await store.setRetention(.newest(200), in: .of(archive))  // its own budget, of each collection
    try await store.evict(scope: .of(archive), keepingLast: 50)  // now, and of no other
    for usage in try await store.usage().prefix(10) { print(usage.scope, usage.records, usage.bytes, usage.retention) }
}
