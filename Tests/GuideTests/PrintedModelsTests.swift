import Foundation
import Testing
import Tidemark

@Suite(.timeLimit(.minutes(5))) struct PrintedModelsTests {
    @Test func `printed models fit their schema, and work with a store`() async throws {
        let document = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "printed.schema.json")
        let schema = try Schema(json: Array(try Data(contentsOf: document)))
        let store = try SyncStore.inMemory(account: UserID("ann"), schema: schema, models: BoxAppModels.all)
        let box = Box(members: ["ann"], title: "attic")
        let task = TaskRecord(
            boxId: box.id, title: "tidy", case: "leather", due: Date(timeIntervalSince1970: 5), tags: ["now"], votes: 2)
        try await store.write { batch in
            batch.create(box)
            batch.create(task)
            batch.create(Country(id: "fr", name: "France"))
        }
        let read = try #require(try await store.repository(TaskRecord.self).readAll(where: \.case == "leather").first)
        #expect(try await store.repository(Country.self).read("fr")?.name == "France")
        #expect(read.isDone == false && read.rank == 3 && read.mood == "so \"so\"" && read.ratio == 2)
        #expect(read.title == "tidy" && read.due == task.due && read.tags == ["now"] && read.syncState == .pending)
    }
}
