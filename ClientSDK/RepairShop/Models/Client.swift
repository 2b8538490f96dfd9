public import Foundation
public import Tidemark

/// A customer of a shop.
public struct Client: ShopRecord, Hashable {
    public static let collection = "clients"

    public var id: UUID
    public let shopId: UUID
    public var firstName: String?
    public var lastName: String
    public var company: String?
    public var phone: String?
    public var email: String?
    public var address: String?
    public var city: String?
    public var postcode: String?
    public var notes: String?

    // Computed by the repository from the orders on this device, and never stored.
    public var orderCount = 0
    /// The totals of the orders that were picked up, one amount for each currency.
    public var totalSpent: [Money] = []

    // Filled by the store.
    public var serverTime: Date?
    public var syncState: RecordState?

    public init(
        id: UUID = UUID(), shop: UUID, firstName: String? = nil, lastName: String, phone: String? = nil,
        email: String? = nil
    ) {
        self.id = id
        shopId = shop
        self.firstName = firstName
        self.lastName = lastName
        self.phone = phone
        self.email = email
    }

    /// First and last name.
    public var name: String { [firstName, lastName].compactMap(\.self).joined(separator: " ") }

    private enum CodingKeys: CodingKey {
        case id, shopId, firstName, lastName, company, phone, email, address, city, postcode, notes
        case serverTime, syncState
    }
}

extension Client {
    public init(reading record: inout RecordReader) throws {
        id = try record["id"]
        shopId = try record["shopId"]
        firstName = try record["firstName"]
        lastName = try record["lastName"]
        company = try record["company"]
        phone = try record["phone"]
        email = try record["email"]
        address = try record["address"]
        city = try record["city"]
        postcode = try record["postcode"]
        notes = try record["notes"]
        serverTime = try record["serverTime"]
        syncState = try record["syncState"]
    }
}
