import Foundation
import Testing
import Tidemark
import TidemarkChat
import TidemarkModel

@Suite(.timeLimit(.minutes(5))) struct CopiedStoreTests {
    private struct Pair {
        let original: Messenger
        let copy: Messenger
    }

    private let folder = FileManager.default.temporaryDirectory.appending(path: "tidemark-\(UUID())")

    private func messenger(_ name: String) async throws -> Messenger {
        Messenger(
            try await SyncStore.open(
                account: UserID("ann"), at: folder.appending(path: name), schema: try ChatSchema.schema()))
    }

    /// A device that was online, wrote offline and was then copied with all its files.
    private func copied(_ server: TestServer, _ room: UUID, isDetected: Bool) async throws -> Pair {
        let original = try await messenger("a")
        try original.connect(server)
        try await original.conversations { $0.count == 1 }
        try await original.chat.messages.send("sent before", to: room)
        try await original.settled()
        await original.disconnect()
        try await original.chat.messages.send("written before", to: room)
        let (from, to) = (folder.appending(path: "a"), folder.appending(path: "b"))
        try FileManager.default.copyItem(at: from, to: to)
        if !isDetected { try claim(to) }
        let copy = try await messenger("b")
        #expect(copy.chat.store.notice == (isDetected ? .copied : nil))
        return Pair(original: original, copy: copy)
    }

    /// Makes a copied folder look like the original installation, as a clone of a whole disk does.
    private func claim(_ folder: URL) throws {
        let file = folder.appending(path: "tidemark.install")
        let id = String(decoding: try Data(contentsOf: file), as: UTF8.self).split(separator: " ").first ?? ""
        let place = try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? NSNumber
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data("\(id) \(place?.uint64Value ?? 0)".utf8))
        try handle.close()
    }

    @Test(arguments: [true, false])
    func `two devices on copies of one database lose nothing and duplicate nothing`(isDetected: Bool) async throws {
        try await TestServer.running { server in
            let bob = try Messenger("bob")
            try bob.connect(server)
            let room = try await bob.chat.conversations.createDirect(with: UserID("ann")).id
            let pair = try await copied(server, room, isDetected: isDetected)
            try await pair.original.chat.messages.send("by the original", to: room)
            try await pair.copy.chat.messages.send("by the copy", to: room)
            try await pair.copy.chat.messages.send("and one more", to: room)

            try pair.original.connect(server)
            try await pair.original.settled()
            try pair.copy.connect(server)
            try await pair.copy.settled()
            try await pair.original.chat.messages.send("at the end", to: room)
            try await pair.original.settled()
            let all: Set = [
                "sent before", "written before", "by the original", "by the copy", "and one more", "at the end",
            ]
            for device in [bob, pair.original, pair.copy] {
                let here = try await device.messages(room) {
                    $0.count >= all.count && $0.allSatisfy { $0.status != .sending }
                }
                #expect(here.count == all.count)
                #expect(Set(here.map(\.text)) == all)
                #expect(here.allSatisfy { $0.status != .failed })
            }
            #expect(
                try await pair.copy.chat.store.diagnostics().client != pair.original.chat.store.diagnostics().client)
            for device in [bob, pair.original, pair.copy] { await device.disconnect() }
        }
        // SQLite may be deleting files of its own at the same moment.
        try? FileManager.default.removeItem(at: folder)
    }
}
