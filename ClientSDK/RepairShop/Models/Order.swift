public import Foundation
public import Tidemark

/// An order of a client, with devices to be repaired. Each field merges separately: a new total on one device and a new
/// status on another are both kept. Of two writes to one field, the one that the server accepts last wins.
public struct Order: ShopRecord, Hashable {
    public static let collection = "orders"

    public var id: UUID
    public let shopId: UUID
    public var clientId: UUID
    /// The shop's own order number; an ordinary field, which the server does not assign yet.
    public var number: Int?
    public var status: OrderStatus
    public var total: Money?
    public var deposit: Money?
    public var notes: String?
    /// The location in the shop: a shelf, a branch.
    public var location: String?
    /// The responsible person: a user id or a name.
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

    /// The amount that is still to be paid; `nil` without a total, and when the deposit is in another currency.
    ///
    /// It is computed and not stored: a new total on one device and a deposit on another are both kept, and a stored
    /// balance would fit neither.
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

/// The status of an order, and of each device in it. It is open: a status from a newer version of the app is shown as
/// it is.
public struct OrderStatus: RawRepresentable, Codable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// Handed in, not examined.
    public static let received = OrderStatus(rawValue: "received")
    /// The fault is being diagnosed.
    public static let diagnosing = OrderStatus(rawValue: "diagnosing")
    /// Blocked until parts are delivered.
    public static let waitingForParts = OrderStatus(rawValue: "waitingForParts")
    /// In repair.
    public static let inRepair = OrderStatus(rawValue: "inRepair")
    /// Done; the client can pick it up.
    public static let ready = OrderStatus(rawValue: "ready")
    /// Back with the client.
    public static let pickedUp = OrderStatus(rawValue: "pickedUp")
    /// Cancelled by the client or the shop.
    public static let cancelled = OrderStatus(rawValue: "cancelled")
}
