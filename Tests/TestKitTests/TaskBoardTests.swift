import Foundation
import Testing
import Tidemark
import TidemarkTestKit

@testable import TaskBoardModel

/// The model of the example app for Apple's platforms, on two devices.
@Suite(.timeLimit(.minutes(5))) struct TaskBoardTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../ClientSDK/Examples/Apple/TaskBoard/Model").standardizedFileURL

    private static func schema(_ name: String = "board") throws -> Schema {
        try Schema(json: Array(try Data(contentsOf: folder.appending(path: "\(name).schema.json"))))
    }

    private let kit: TestKit
    private let ann: TestClient
    private let bob: TestClient
    private let board: Board

    init() async throws {
        kit = try TestKit(schema: try Self.schema())
        ann = try await kit.client("ann")
        bob = try await kit.client("bob")
        board = try await TaskBoard(store: ann.store).makeBoard("Move", with: ["bob"], columns: ["To do", "Done"])
        try await kit.settle()
    }

    private var anns: TaskBoard { TaskBoard(store: ann.store) }
    private var bobs: TaskBoard { TaskBoard(store: bob.store) }

    private func columns(_ store: SyncStore) async throws -> [BoardColumn] {
        try await store.repository(BoardColumn.self).readAll(
            where: \.boardId == board.id, order: [.by(\.position)], in: board.scope)
    }

    private func card(_ id: UUID, on client: TestClient) async throws -> Card {
        try #require(try await client.store.repository(Card.self).read(id))
    }

    @Test func `the models fit the schema`() throws {
        for model in TaskBoard.models {
            func check<Model: SyncModel>(_ model: Model.Type) throws { try ann.store.check(model) }
            try check(model)
        }
    }

    @Test func `simultaneous edits of one card by two users are all kept`() async throws {
        let todo = try #require(try await columns(bob.store).first)
        let boxes = try await bobs.addCard("Pack boxes", to: todo)
        try await kit.settle()
        ann.goOffline()
        try await anns.vote(for: boxes.id)
        try await anns.set("kitchen", on: boxes.id, isOn: true)
        try await anns.addStep("Buy tape", to: try await card(boxes.id, on: ann))
        try await bobs.vote(for: boxes.id)
        try await bobs.set("heavy", on: boxes.id, isOn: true)
        try await bobs.addStep("Borrow a van", to: boxes)
        ann.goOnline()
        try await kit.settle()
        try kit.expectConverged()
        for client in [ann, bob] {
            let card = try await card(boxes.id, on: client)
            #expect(card.votes == 2 && card.labels == ["kitchen", "heavy"] && card.syncState == .synced)
            let steps = try await client.store.repository(Step.self).readAll(where: \.cardId == boxes.id)
            #expect(Set(steps.map(\.text)) == ["Buy tape", "Borrow a van"])
        }
    }

    @Test func `a card that is moved changes no other one, and has its position on the other device`() async throws {
        let columns = try await columns(ann.store)
        let (todo, done) = (try #require(columns.first), try #require(columns.last))
        var cards: [Card] = []
        for title in ["one", "two", "three"] { cards.append(try await anns.addCard(title, to: todo)) }
        try await anns.move(cards[2].id, to: todo.id, before: cards[0].id)
        try await anns.move(cards[1].id, to: done.id)
        try await kit.settle()
        let titles = { (column: UUID) in
            try await bob.store.repository(Card.self).readAll(where: \.columnId == column, order: [.by(\.position)])
                .map(\.title)
        }
        #expect(try await titles(todo.id) == ["three", "one"])
        #expect(try await titles(done.id) == ["two"])
        #expect(try await card(cards[0].id, on: bob).position == cards[0].position)
    }

    @Test func `a checklist is counted, and deleted with its card`() async throws {
        let todo = try #require(try await columns(ann.store).first)
        let card = try await anns.addCard("Pack boxes", to: todo)
        let tape = try await anns.addStep("Buy tape", to: card)
        try await anns.addStep("Borrow a van", to: card)
        try await anns.tick(tape.id, isDone: true)
        try await kit.settle()
        for try await progress in bobs.observeProgress(of: board.id) {
            #expect(progress == [card.id: CardProgress(cardId: card.id, done: 1, total: 2)])
            break
        }
        try await bobs.delete(try await self.card(card.id, on: bob))
        try await kit.settle()
        #expect(try await ann.store.repository(Step.self).count() == 0)
        try kit.expectConverged()
    }

    @Test func `a picture and a word are found on the other device`() async throws {
        let todo = try #require(try await columns(ann.store).first)
        let card = try await anns.addCard("Pack the crockery", to: todo)
        let jpeg = Data((0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try await anns.setCover(jpeg, of: card)
        try await kit.settle()
        let found = try await bob.store.repository(Card.self).search("crock", in: board.scope)
        #expect(found.map(\.model.id) == [card.id])
        let cover = try #require(found.first?.model.cover)
        let bytes = try await kit.whileRunning { [bob, board] in
            try await bob.store.blobs.read(cover, in: board.scope)
        }
        #expect(bytes == jpeg)
    }

    @Test func `a device with the app's first version continues, and keeps its notes after the update`() async throws {
        let old = try await kit.client("ann", schema: try Self.schema("board.version1"))
        try await kit.settle()
        let todo = try #require(try await columns(old.store).first)
        let first = FirstCard(boardId: board.id, columnId: todo.id, title: "Lamps", notes: "wrap them", position: 7)
        try await old.store.repository(FirstCard.self).create(first)
        try await kit.settle()
        #expect(try await card(first.id, on: bob).details == "wrap them")
        old.goOffline()
        try await old.store.repository(FirstCard.self).update(first.id) { $0.notes = "wrap them well" }
        try await old.kill()
        try await old.relaunch(with: try Self.schema())
        #expect(try await card(first.id, on: old).details == "wrap them well")
        try await old.store.repository(Card.self).update(first.id) {
            $0.due = Date(timeIntervalSince1970: 1_800_000_000)
        }
        old.goOnline()
        try await kit.settle()
        try kit.expectConverged()
        for client in [bob, old] {
            let card = try await card(first.id, on: client)
            #expect(card.due == Date(timeIntervalSince1970: 1_800_000_000) && card.details == "wrap them well")
        }
    }
}

/// A card in the app's first version.
private struct FirstCard: SyncModel {
    static let collection = "cards"
    var id = UUID()
    var boardId: UUID
    var columnId: UUID
    var title: String
    var notes: String?
    var position: Double
}
