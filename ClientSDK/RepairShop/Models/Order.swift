public import Foundation
public import Tidemark

/// A repair. Each field merges by itself: a new price here and a new status there are both kept; of two writes of one
/// field, the one that the server accepts last stands.
public struct Order: ShopRecord, Hashable {
    public static let collection = "orders"

    public var id: UUID
    public let shopId: UUID
    public var clientId: UUID
    public var deviceId: UUID?
    public var status: OrderStatus
    public var problem: String
    public var diagnosis: String?
    /// A user id or a name.
    public var technician: String?
    public var price: Money?
    public var deposit: Money?
    public var received: Date
    public var promised: Date?

    // Filled by the store.
    public var serverTime: Date?
    public var syncState: RecordState?

    public init(
        id: UUID = UUID(), shop: UUID, client: UUID, device: UUID? = nil, status: OrderStatus = .received,
        problem: String, price: Money? = nil, received: Date = Date()
    ) {
        self.id = id
        shopId = shop
        clientId = client
        deviceId = device
        self.status = status
        self.problem = problem
        self.price = price
        self.received = received
    }
}

extension Order {
    public init(reading record: inout RecordReader) throws {
        id = try record["id"]
        shopId = try record["shopId"]
        clientId = try record["clientId"]
        deviceId = try record["deviceId"]
        status = OrderStatus(rawValue: try record["status"])
        problem = try record["problem"]
        diagnosis = try record["diagnosis"]
        technician = try record["technician"]
        price = try record["price"]
        deposit = try record["deposit"]
        received = try record["received"]
        promised = try record["promised"]
        serverTime = try record["serverTime"]
        syncState = try record["syncState"]
    }
}

/// Where a repair stands. Open: a status from a newer version of the app is shown as it is.
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
