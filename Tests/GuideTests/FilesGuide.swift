import Foundation
import Testing
import Tidemark
import TidemarkChat
import TidemarkTestKit

@Suite(.timeLimit(.minutes(5))) struct FilesGuide {
    private let jpeg = Data((0..<10_000).map { UInt8($0 % 251) })

    @Test func `the guide's file is sent, seen by the other, refused and sent again`() async throws {
        let kit = try TestKit(schema: try GuideSchema.schema())
        let (ann, bob) = (try await kit.client("ann"), try await kit.client("bob"))
        let taskList = TaskList(members: ["ann", "bob"])
        try await ann.store.repository(TaskList.self).create(taskList)
        let list = taskList.id
        kit.faults.blobs(.refused(status: 507), of: ann)
        do {
            let store = ann.store

            let scope = ScopeID.of(list)
            try await store.write { batch in
                let digest = batch.addBlob(jpeg, in: scope)
                batch.create(Picture(listId: list, file: digest))
            }
        }
        try await kit.settle()
        let scope = ScopeID.of(list)
        let picture = try #require(try await bob.store.repository(Picture.self).readAll().first)
        let digest = picture.file
        let code = try await kit.whileRunning { () -> BlobError.Code? in
            do {
                _ = try await bob.store.blobs.read(digest, in: scope)
                return nil
            } catch let error as BlobError { return error.code }
        }
        #expect(code == .notThere)
        try await sendAgain(ann.store, digest, scope)
        try await kit.settle()
        #expect(try await ann.store.blobs.unsent().isEmpty)
        try await kit.whileRunning { try await show(picture, bob.store, scope) }
        #expect(try await bob.store.blobs.read(digest, in: scope) == jpeg)
    }

    private func show(_ picture: Picture, _ store: SyncStore, _ scope: ScopeID) async throws {
        let bytes = try await store.blobs.read(picture.file, in: scope)  // from here, or fetched, checked and stored
        for try await look in store.blobs.observe(picture.file, in: scope) {
            switch look {
            case .missing(let error): print("preview", error?.code.rawValue ?? "")
            case .here(let bytes): print("picture", bytes.count)
            }
        }
        #expect(bytes == jpeg)
    }

    private func sendAgain(_ store: SyncStore, _ digest: BlobDigest, _ scope: ScopeID) async throws {
        if try await store.blobs.unsent().first?.failure == nil {
            for try await status in store.blobs.status(of: digest, in: scope) {
                if case .rejected(let why) = status { print(why.rawValue) }
                if status == .held { break }
            }
        }
        for blob in try await store.blobs.unsent() where blob.failure != nil {
            try await store.blobs.retry(blob.digest, in: blob.scope)
        }
    }

    @Test func `the guide's bounds are those of a cache`() {
        var cache = CachePolicy()
        #expect(cache.blobs.maxHeldBytes == 256 << 20 && cache.blobs.maxBytes == 16 << 20)
        cache.blobs.maxHeldBytes = 64 << 20  // 256 MiB when nothing is said
        cache.blobs.maxBytes = 8 << 20  // of one blob, sent or fetched: 16 MiB when nothing is said
        cache.blobs.networks = [.wifi, .wired]
        #expect(cache != CachePolicy())
    }

    @Test func `in a chat a picture goes with its message`() async throws {
        let kit = try TestKit(schema: try ChatSchema.schema())
        let chat = Chat(try await kit.client("ann").store)
        let conversation = try await chat.conversations.createDirect(with: UserID("bob")).id
        let tiny = Data([1, 2, 3])

        let photo = MessageAttachment(.image, bytes: jpeg, contentType: "image/jpeg", name: "cake.jpg", preview: tiny)
        try await chat.messages.send("look", to: conversation, attachment: photo, bytes: jpeg)
        let seen = try await chat.messages.bytes(of: photo, in: conversation)
        #expect(seen == jpeg)
        try await kit.settle()
        #expect(try await chat.store.blobs.unsent().isEmpty)
    }
}

struct Picture: SyncModel {
    static let collection = "pictures"
    var id = UUID()
    var listId: UUID
    var file: BlobDigest
}
