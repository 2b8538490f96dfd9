public import Foundation
public import Tidemark

/// A shop: the scope of everything else. Its staff see and change all of it.
public struct Shop: SyncModel, Hashable {
    public static let collection = "shops"

    public var id: UUID
    public var name: String
    /// The user ids of the staff.
    public var staffIds: Set<String>
    /// The user ids of the staff who may change the shop itself.
    public var adminIds: Set<String>?
    /// The default currency of prices; ISO 4217.
    public var currency: String?

    // Filled by the store.
    public var serverTime: Date?
    public var syncState: RecordState?

    /// - Parameter staff: the users of the shop; it must contain the user who creates it.
    public init(id: UUID = UUID(), name: String, staff: Set<UserID>, admins: Set<UserID> = [], currency: String? = nil)
    {
        self.id = id
        self.name = name
        staffIds = Set(staff.map(\.text))
        adminIds = admins.isEmpty ? nil : Set(admins.map(\.text))
        self.currency = currency
    }
}

extension Shop {
    public init(reading record: inout RecordReader) throws {
        id = try record["id"]
        name = try record["name"]
        staffIds = try record["staffIds"]
        adminIds = try record["adminIds"]
        currency = try record["currency"]
        serverTime = try record["serverTime"]
        syncState = try record["syncState"]
    }
}
