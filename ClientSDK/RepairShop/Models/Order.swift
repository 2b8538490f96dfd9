public import Foundation
public import Tidemark

/// An order of a client, with devices to be repaired. Each field merges by itself: a new total here and a new status there are
/// both kept; of two writes of one field, the one that the server accepts last stands.
public struct Order: ShopRecord, Hashable {
    public static let collection = "orders"

    public var id: UUID
    public let shopId: UUID
    public var clientId: UUID
    /// The shop's own count of its orders; an ordinary field, which the server does not give yet.
    public var number: Int?
    public var status: OrderStatus
    public var total: Money?
    public var deposit: Money?
    public var notes: String?
    /// The place where it is kept: a shelf, a branch.
    public var location: String?
    /// A user id or a name.
    public var assignee: String?
    public var received: Date
    public var promised: Date?

    // Filled by the store.
    public var serverTime: Date?
    public var syncState: RecordState?

    public init(
        id: UUID = UUID(), shop: UUID, client: UUID, number: Int? = nil, status: OrderStatus = .received,
        total: Money? = nil, notes: String? = nil, received: Date = Date()
    ) {
        self.id = id
        shopId = shop
        clientId = client
        self.number = number
        self.status = status
        self.total = total
        self.notes = notes
        self.received = received
    }

    /// The amount that is still to be paid; `nil` without a total, and where the deposit is in another currency.
    ///
    /// Reckoned and not stored: of a new total here and a deposit there both are kept, and a stored balance would fit neither.
    public var balance: Money? {
        guard let deposit else { return total }
        return total?.adding(Money(minorUnits: 0 &- deposit.minorUnits, currency: deposit.currency))
    }
}

extension Order {
    public init(reading record: inout RecordReader) throws {
        id = try record["id"]
        shopId = try record["shopId"]
        clientId = try record["clientId"]
        number = try record["number"]
        status = OrderStatus(rawValue: try record["status"])
        total = try record["total"]
        deposit = try record["deposit"]
        notes = try record["notes"]
        location = try record["location"]
        assignee = try record["assignee"]
        received = try record["received"]
        promised = try record["promised"]
        serverTime = try record["serverTime"]
        syncState = try record["syncState"]
    }
}

/// The state of an order, and of each device of it. Open: a status from a newer version of the app is shown as it is.
public struct OrderStatus: RawRepresentable, Codable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// Handed in, not looked at.
    public static let received = OrderStatus(rawValue: "received")
    /// Somebody is finding out what is wrong.
    public static let diagnosing = OrderStatus(rawValue: "diagnosing")
    /// Cannot go on before something is delivered.
    public static let waitingForParts = OrderStatus(rawValue: "waitingForParts")
    /// Being worked on.
    public static let inRepair = OrderStatus(rawValue: "inRepair")
    /// Done, and the client may come.
    public static let ready = OrderStatus(rawValue: "ready")
    /// Back with the client.
    public static let pickedUp = OrderStatus(rawValue: "pickedUp")
    /// Given up, by whomever.
    public static let cancelled = OrderStatus(rawValue: "cancelled")
}
