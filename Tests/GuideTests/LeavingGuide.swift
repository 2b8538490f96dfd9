import Foundation
import Testing
import Tidemark

@Suite struct LeavingGuide {
    @Test func `a user who signs out with pending writes finds them again`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tidemark-guide-\(UUID())")
        // A temporary folder that remains does no harm.
        defer { try? FileManager.default.removeItem(at: folder) }
        let schema = try GuideSchema.schema()
        let store = try await SyncStore.open(account: UserID("ann"), at: folder, schema: schema)
        try await store.repository(TaskList.self).create(TaskList(members: ["ann"]))
        try await makeRoom(in: store)

        let left = try await store.statistics()
        if left.pending + left.rejected > 0 { print("not sent yet: \(left.pending), rejected: \(left.rejected)") }
        try await store.signOut(keeping: .pending)

        let again = try await SyncStore.open(account: UserID("ann"), at: folder, schema: schema)
        #expect(try await again.statistics().pending == 1)
        try await again.signOut(keeping: .nothing)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["tidemark.install"])
    }
}

func makeRoom(in store: SyncStore) async throws {
    try await store.evict()  // what the cache's policy does not keep, which also happens by itself
    try await store.clearCache()  // all that can be fetched again
}

func signOut(_ lost: SyncDevice, from store: SyncStore) async throws {
    for device in try await store.devices() where !device.isThisDevice {
        print(device.app ?? "?", device.lastSeenAt, device.pending ?? 0)
    }
    try await store.signOut(device: lost.id)
    try await store.signOutEverywhere()
}
