public import Foundation

/// The reason why the repair shop refused a call. Refusals of the store arrive as `StoreError`.
public enum RepairShopError: Error, Hashable, Sendable {
    /// There is no such record on this device or the server: it never existed, was deleted, or belongs to a shop of
    /// which the user is not a member. A write finds only records on this device: read the record first.
    case notFound(collection: String, id: UUID)
}
