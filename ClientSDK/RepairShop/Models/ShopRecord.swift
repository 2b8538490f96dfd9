public import Foundation
public import Tidemark

/// A record that belongs to a shop.
public protocol ShopRecord: SyncModel, Hashable where ID == UUID {
    /// The shop; never changes.
    var shopId: UUID { get }
    /// What the store knows of the record; `nil` on one that was not read from it.
    var syncState: RecordState? { get }
}
