public import Foundation

/// Why the repair shop refused a call. What the store refuses arrives as `StoreError`.
public enum RepairShopError: Error, Hashable, Sendable {
    /// There is no such record, neither here nor at the server: it never was, was deleted, or is of a shop that the user does
    /// not belong to. A write finds only what is here: read the record first.
    case notFound(collection: String, id: UUID)
}
