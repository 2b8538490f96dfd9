public import Foundation
public import Tidemark

/// A customer of a shop.
public struct Client: ShopRecord, Hashable {
    public static let collection = "clients"

    public var id: UUID
    public let shopId: UUID
    public var name: String
    public var phone: String?
    public var email: String?
    public var address: String?
    public var notes: String?

    // Filled by the store.
    public var serverTime: Date?
    public var syncState: RecordState?

    public init(id: UUID = UUID(), shop: UUID, name: String, phone: String? = nil, email: String? = nil) {
        self.id = id
        shopId = shop
        self.name = name
        self.phone = phone
        self.email = email
    }
}

extension Client {
    public init(reading record: inout RecordReader) throws {
        id = try record["id"]
        shopId = try record["shopId"]
        name = try record["name"]
        phone = try record["phone"]
        email = try record["email"]
        address = try record["address"]
        notes = try record["notes"]
        serverTime = try record["serverTime"]
        syncState = try record["syncState"]
    }
}
