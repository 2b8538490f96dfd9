import Foundation
import Testing
import Tidemark

@testable import TidemarkChat

/// The records read their fields themselves, with the same result as a decoder.
@Suite struct ReadingTests {
    /// A model as its decoder reads it.
    private struct Decoded<Model: SyncModel & Equatable>: SyncModel {
        static var collection: String { Model.collection }
        let model: Model
        var id: Model.ID { model.id }

        init(from decoder: any Decoder) throws { model = try Model(from: decoder) }

        func encode(to encoder: any Encoder) throws { try model.encode(to: encoder) }
    }

    private func compare<Model: SyncModel & Equatable>(_ models: Model...) async throws {
        let store = try SyncStore.inMemory(account: UserID("ann"), schema: try ChatSchema.schema())
        for model in models { try await store.repository(Model.self).create(model) }
        let read = try await store.repository(Model.self).readAll(order: [.named(.ascending("id"))])
        let decoded = try await store.repository(Decoded<Model>.self).readAll(order: [.named(.ascending("id"))])
        #expect(read.count == models.count)
        #expect(read == decoded.map(\.model))
    }

    @Test func `messages read as they decode`() async throws {
        try await compare(
            MessageRecord(
                id: UUID(), conversationId: UUID(), text: "é\n", senderName: "Ann",
                sentAt: Date(timeIntervalSince1970: 1_760_000_000.123)),
            MessageRecord(
                id: UUID(), conversationId: UUID(), sentAt: Date(timeIntervalSince1970: 1), kind: "image",
                attachment: AttachmentField(
                    MessageAttachment(.image, bytes: Data([1, 2]), contentType: "image/png", width: 1, height: 2))),
            MessageRecord(id: UUID(), conversationId: UUID(), sentAt: Date(timeIntervalSince1970: 0)))
    }

    @Test func `conversations read as they decode`() async throws {
        try await compare(
            ConversationRecord(
                id: UUID(), kind: "group", participantIds: ["ann", "b\"ob"], adminIds: ["ann"],
                participantNames: ["ann": "Ann"], name: "friends", imageURL: URL(string: "https://a.example/x")),
            ConversationRecord(id: UUID(), kind: "direct", participantIds: ["ann", "é"]))
    }

    @Test func `users read as they decode`() async throws {
        try await compare(
            UserRecord(
                id: UUID(), displayName: "Ann", email: "ann@a.example", imageURL: URL(string: "https://a.example/x")),
            UserRecord(id: UUID(), displayName: "Bob"))
    }

    @Test func `receipts read as they decode`() async throws {
        var receipts = ReceiptRecord(of: UserID("ann"), in: UUID())
        receipts.note(.delivered, through: 7, at: 1_000, timesMax: 3)
        receipts.note(.read, through: 5, at: 2_000, timesMax: 3)
        try await compare(receipts, ReceiptRecord(of: UserID("bob"), in: UUID()))
    }
}
