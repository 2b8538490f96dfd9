import Foundation
import Testing
import Tidemark

@Suite struct MigrationsGuide {
    @Test func `a retyped field is refused and the file still opens with the old schema`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tidemark-guide-\(UUID())")
        // A temporary folder that remains does no harm.
        defer { try? FileManager.default.removeItem(at: folder) }
        let account = UserID("ann")
        var store: SyncStore? = try await SyncStore.open(
            account: account, at: folder, schema: try GuideSchema.schema())
        store = nil
        let newer = try GuideSchema.schema(titleType: "integer")

        do {
            store = try await SyncStore.open(account: account, at: folder, schema: newer)
        } catch let error as StoreError where error.code == .schemaChanged {
            print("cannot follow: \(error)")  // tasks.title: was string, is now integer
        }
        #expect(store == nil)
        store = try await SyncStore.open(account: account, at: folder, schema: try GuideSchema.schema())
        #expect(store != nil)
    }
}
