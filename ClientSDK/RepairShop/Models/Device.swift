public import Foundation
public import Tidemark

/// A device that a client brings in, with its fault and the work on it: a part of an order.
public struct Device: ShopRecord, Hashable {
    public static let collection = "devices"

    public var id: UUID
    public let shopId: UUID
    public let orderId: UUID
    /// The type: `phone`, `laptop`, …. The list is open.
    public var type: String
    public var brand: String?
    public var model: String?
    public var serialNumber: String?
    public var imei: String?
    /// The code that unlocks it, in plain text on every device of the staff and at the server: delete it when the device is picked up.
    public var passcode: String?
    public var status: OrderStatus
    /// The fault, in the client's words.
    public var issue: String?
    public var diagnosis: String?
    public var resolution: String?
    public var price: Money?
    /// The responsible person: a user id or a name.
    public var assignee: String?

    // Filled by the store.
    public var serverTime: Date?
    public var syncState: RecordState?

    public init(
        id: UUID = UUID(), of order: Order, type: String, brand: String? = nil, model: String? = nil,
        status: OrderStatus = .received, issue: String? = nil
    ) {
        self.id = id
        shopId = order.shopId
        orderId = order.id
        self.type = type
        self.brand = brand
        self.model = model
        self.status = status
        self.issue = issue
    }
}

extension Device {
    public init(reading record: inout RecordReader) throws {
        id = try record["id"]
        shopId = try record["shopId"]
        orderId = try record["orderId"]
        type = try record["type"]
        brand = try record["brand"]
        model = try record["model"]
        serialNumber = try record["serialNumber"]
        imei = try record["imei"]
        passcode = try record["passcode"]
        status = OrderStatus(rawValue: try record["status"])
        issue = try record["issue"]
        diagnosis = try record["diagnosis"]
        resolution = try record["resolution"]
        price = try record["price"]
        assignee = try record["assignee"]
        serverTime = try record["serverTime"]
        syncState = try record["syncState"]
    }
}
