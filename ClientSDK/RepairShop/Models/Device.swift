public import Foundation
public import Tidemark

/// A thing that a client brings in.
public struct Device: ShopRecord, Hashable {
    public static let collection = "devices"

    public var id: UUID
    public let shopId: UUID
    public var clientId: UUID
    public var brand: String?
    public var model: String?
    public var serialNumber: String?
    /// As it was handed in.
    public var condition: String?

    // Filled by the store.
    public var serverTime: Date?
    public var syncState: RecordState?

    public init(id: UUID = UUID(), shop: UUID, client: UUID, brand: String? = nil, model: String? = nil) {
        self.id = id
        shopId = shop
        clientId = client
        self.brand = brand
        self.model = model
    }
}

extension Device {
    public init(reading record: inout RecordReader) throws {
        id = try record["id"]
        shopId = try record["shopId"]
        clientId = try record["clientId"]
        brand = try record["brand"]
        model = try record["model"]
        serialNumber = try record["serialNumber"]
        condition = try record["condition"]
        serverTime = try record["serverTime"]
        syncState = try record["syncState"]
    }
}
