public import Foundation
public import Tidemark

/// A record that belongs to a shop.
public protocol ShopRecord: SyncModel, Hashable where ID == UUID {
    /// The shop; it never changes.
    var shopId: UUID { get }
    /// The store's state of the record; `nil` for a record that was not read from it.
    var syncState: RecordState? { get }
}
