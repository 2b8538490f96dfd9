import Foundation
import Testing
import Tidemark
import TidemarkExtension

struct Errand: RecordModel {
    static let collection = "tasks"
    var id = UUID()
    var listId: UUID
    var title: String
    var isDone: Bool?
}

extension Errand: SyncModel {}

@Suite(.timeLimit(.minutes(5))) struct ExtensionsGuide {
    @Test func `the writes of the guide's extension are in the app, and its widget shows the app's published value`()
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tidemark-guide-\(UUID())")
        // A temporary folder that remains does no harm.
        defer { try? FileManager.default.removeItem(at: folder) }
        let (container, own) = (folder.appending(path: "group"), folder.appending(path: "own"))
        let (user, schema) = (UserID("ann"), try GuideSchema.schema())
        let shared = SharedFolder(container.appending(path: "tidemark"))
        let store = try await SyncStore.open(account: user, at: own, schema: schema, shared: shared)
        let taskList = TaskList(members: ["ann"])
        try await store.repository(TaskList.self).create(taskList)
        let errand = try await fromExtension(shared, taskList.id)
        try await adopt(store)
        #expect(try await store.repository(Errand.self).read(errand) == nil)
        let errands = try await store.repository(Errand.self).readAll()
        #expect(errands.map(\.title).sorted() == ["Bread", "Milk"])
        let milk = try #require(errands.first { $0.title == "Milk" })
        try action(shared, milk.id)
        try await adopt(store)
        #expect(try await store.repository(Errand.self).read(milk.id)?.isDone == true)
        try await publish(store)
        #expect(try shared.published("open", as: [Errand].self)?.value.map(\.title) == ["Bread"])
        try show(shared)
        try await store.close()
    }

    private func adopt(_ store: SyncStore) async throws {
        let adoption = try await store.adoptSpool()
        for fault in adoption.faults { print("\(fault)") }
        #expect(adoption.faults.isEmpty && adoption.rejected.isEmpty)
    }

    private func fromExtension(_ shared: SharedFolder, _ list: UUID) async throws -> UUID {
        let id = try shared.write { batch in
            batch.create(Errand(listId: list, title: "Milk"))
        }
        try second(shared, list)
        return id
    }

    private func action(_ shared: SharedFolder, _ errand: UUID) throws {
        try shared.write { $0.set("isDone", true, of: Errand.self, errand) }
    }

    private func second(_ shared: SharedFolder, _ list: UUID) throws {
        do {
            try shared.write { $0.create(Errand(listId: list, title: "Bread")) }
        } catch let error as SharingError where error.code == .full {
            print("open the app once: \(error)")
        }
    }

    private func publish(_ store: SyncStore) async throws {
        try await store.publish("open") { snapshot in
            try snapshot.readAll(Errand.self, where: \.isDone != true, limit: 20)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await store.publishChanges("count") { try $0.count(Errand.self, where: \.isDone != true) }
            }
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private func show(_ shared: SharedFolder) throws {
        if let open = try shared.published("open", as: [Errand].self) {
            print(open.value.count, "open, as of", open.age(at: Date()))
        }
    }
}
