public import Foundation
public import Tidemark

/// A message about a ticket; it never changes.
public struct TicketMessage: ShopRecord, Hashable {
    public static let collection = "ticketMessages"

    public var id: UUID
    public let shopId: UUID
    public let ticketId: UUID
    public let text: String
    /// True for a message to the staff only, which must not be sent to the client.
    public let isInternal: Bool
    public let sentAt: Date

    // Filled by the store.
    public var author: String?
    public var serverTime: Date?
    public var syncState: RecordState?

    public init(
        id: UUID = UUID(), about ticket: Ticket, text: String, isInternal: Bool = false, sentAt: Date = Date()
    ) {
        self.id = id
        shopId = ticket.shopId
        ticketId = ticket.id
        self.text = text
        self.isInternal = isInternal
        self.sentAt = sentAt
    }
}

extension TicketMessage {
    public init(reading record: inout RecordReader) throws {
        id = try record["id"]
        shopId = try record["shopId"]
        ticketId = try record["ticketId"]
        text = try record["text"]
        isInternal = try record["isInternal"]
        sentAt = try record["sentAt"]
        author = try record["author"]
        serverTime = try record["serverTime"]
        syncState = try record["syncState"]
    }
}
