import TidemarkModel

/// The part of the server's records that is kept on the device.
///
///     var cache = CachePolicy()
///     cache.filling = .newest(50)
///     cache.age = .seconds(90 * 86_400)
///     let store = try await SyncStore.open(account: user, at: folder, schema: schema, cache: cache)
///
/// It applies to collections whose records belong to a scope by a field, such as the messages of conversations. Scopes'
/// own records and shared ones are always kept. Unsent records, and those that they refer to, are never evicted. Nor
/// are those that `SyncStore.setRetention(_:in:)` pins; that call can also give a scope a number of its own. Evicted
/// records come back when an observed list has room for more records than there are, and when `Repository.loadOlder`
/// asks for them.
///
/// **Even of the user's own records only 100 MB stay** by default: the server has the others. Set `maxBytes` to `nil`
/// for an app that must show everything without a network.
public struct CachePolicy: Hashable, Sendable {
    /// The part of a scope that is filled without being asked for.
    public enum Filling: Hashable, Sendable {
        /// All records that the account may see.
        case everything
        /// This many of the newest records of each collection of each scope; older ones on demand.
        case newest(Int)
    }

    /// The bytes that the file may use; above, the oldest records are evicted until it is a tenth below. `nil` for no
    /// limit. Evictions are reported by the event `evicted` and counted by `SyncStore.statistics()`; a file that was
    /// larger shrinks again.
    public var maxBytes: Int64? = 100 * 1_000_000
    /// The time that records are kept after their creation; `nil` for no limit.
    public var age: Duration?
    /// The number of records that are kept of each collection of a scope; `nil` for all.
    public var maxRows: Int?
    /// The number of newest records of each collection of a scope that are kept whatever the size of the file.
    public var newestKept = 50
    /// The part of each scope that is filled without being asked for.
    public var filling = Filling.everything
    /// The same for single collections, by name.
    public var fillings: [String: Filling] = [:]
    /// The policy for the bytes that records name; they are not part of `maxBytes`.
    public var blobs = BlobPolicy()
    /// The time between two looks at the size while connected; at least a second.
    public var pause = Duration.seconds(60)

    public init() {}

    /// Returns the number of rows to fetch without being asked for; `nil` for all.
    func rowsWanted(of collection: CollectionSchema) -> Int64? {
        guard collection.isEvictable else { return nil }
        return switch fillings[collection.name] ?? filling {
        case .everything: nil
        case .newest(let count): Int64(max(0, count))
        }
    }
}

extension CollectionSchema {
    /// True when the records belong to a scope that another record opens.
    var isEvictable: Bool { if case .field = scope { true } else { false } }
}
