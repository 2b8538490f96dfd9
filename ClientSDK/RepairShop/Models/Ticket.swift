public import Foundation
public import Tidemark

/// A matter to be followed up, with messages.
public struct Ticket: ShopRecord, Hashable {
    public static let collection = "tickets"

    public var id: UUID
    public let shopId: UUID
    public var clientId: UUID?
    /// The name of the person who asks, even if no client has that name.
    public var clientName: String?
    public var clientEmail: String?
    public var orderId: UUID?
    /// The shop's own ticket number; an ordinary field, which the server does not assign yet: see `label`.
    public var number: Int?
    public var subject: String
    public var status: TicketStatus
    /// The priority; larger is more urgent.
    public var priority: Int
    /// The responsible user's id.
    public var assignee: String?
    public var opened: Date

    /// The newest message about it on this device. The repository adds it; it is never stored.
    public var lastMessage: TicketMessage?

    // Filled by the store.
    public var serverID: Int64?
    public var serverTime: Date?
    public var syncState: RecordState?

    public init(
        id: UUID = UUID(), shop: UUID, client: UUID? = nil, order: UUID? = nil, subject: String,
        status: TicketStatus = .open, priority: Int = 0, opened: Date = Date()
    ) {
        self.id = id
        shopId = shop
        clientId = client
        orderId = order
        self.subject = subject
        self.status = status
        self.priority = priority
        self.opened = opened
    }

    private enum CodingKeys: CodingKey {
        case id, shopId, clientId, clientName, clientEmail, orderId, number, subject, status, priority, assignee, opened
        case serverID, serverTime, syncState
    }

    /// The name of the ticket: `T-1042` by the server's number, `T-draft-9f3c` until it has one.
    ///
    /// The number is the same on every device, never changes and rises with the order of acceptance. It counts
    /// everything that the workspace accepts, not only tickets, so numbers have gaps: the server cannot yet count one
    /// collection of a scope without gaps. A draft label may occur twice; do not print it as a number.
    public var label: String {
        if let serverID { return "T-\(serverID)" }
        return "T-draft-\(UniqueID(id).description.suffix(4))"
    }
}

extension Ticket {
    public init(reading record: inout RecordReader) throws {
        id = try record["id"]
        shopId = try record["shopId"]
        clientId = try record["clientId"]
        clientName = try record["clientName"]
        clientEmail = try record["clientEmail"]
        orderId = try record["orderId"]
        number = try record["number"]
        subject = try record["subject"]
        status = TicketStatus(rawValue: try record["status"])
        priority = try record["priority"]
        assignee = try record["assignee"]
        opened = try record["opened"]
        serverID = try record["serverID"]
        serverTime = try record["serverTime"]
        syncState = try record["syncState"]
    }
}

/// The status of a ticket. It is open: a status from a newer version of the app is shown as it is.
public struct TicketStatus: RawRepresentable, Codable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// To be done.
    public static let open = TicketStatus(rawValue: "open")
    /// Another person has to act first.
    public static let waiting = TicketStatus(rawValue: "waiting")
    /// Done.
    public static let closed = TicketStatus(rawValue: "closed")
}
