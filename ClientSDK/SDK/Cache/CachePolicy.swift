import TidemarkModel

/// How much of the server's records is kept on the device.
///
///     var cache = CachePolicy()
///     cache.filling = .newest(50)
///     cache.age = .seconds(90 * 86_400)
///     let store = try await SyncStore.open(account: user, at: folder, schema: schema, cache: cache)
///
/// It concerns collections whose records belong to a scope by a field, such as the messages of conversations; scopes' own
/// records and shared ones are always here. What is not sent yet, and what that refers to, is never evicted, nor is what
/// `SyncStore.keep(_:of:)` pins; a scope may have a number of its own there. What was evicted comes back when a list is
/// observed that has room for more than is here, and when it is asked for with `Repository.loadOlder`.
///
/// **Of the user's own records as well only 100 MB stay** when nothing is said: the server has the others. Set `bytesMax` to `nil`
/// for an app that must show everything without a network.
public struct CachePolicy: Hashable, Sendable {
    /// How far back a scope is filled by itself.
    public enum Filling: Hashable, Sendable {
        /// All that the account may see.
        case everything
        /// So many of the newest records of each collection of each scope; older ones on demand.
        case newest(Int)
    }

    /// Bytes that the file may use; above, the oldest records go first until it is a tenth below. `nil` for no limit. What goes is
    /// told as the event `evicted` and counted by `SyncStore.statistics()`; a file that was larger becomes smaller again.
    public var bytesMax: Int64? = 100 * 1_000_000
    /// How long records are kept after their creation; `nil` for ever.
    public var age: Duration?
    /// Records that are kept of each collection of a scope; `nil` for all.
    public var rowsMax: Int?
    /// Of each collection of a scope, the size of the file never costs so many of the newest.
    public var newestKept = 50
    /// How far back scopes are filled by themselves.
    public var filling = Filling.everything
    /// The same for single collections, by name.
    public var fillings: [String: Filling] = [:]
    /// What is kept of the bytes that records name; they do not count towards `bytesMax`.
    public var blobs = BlobPolicy()
    /// Between two looks at the size while connected; at least a second.
    public var pause = Duration.seconds(60)

    public init() {}

    /// Rows to be fetched without being asked for; `nil` for all.
    func rowsWanted(of collection: CollectionSchema) -> Int64? {
        guard collection.isEvictable else { return nil }
        return switch fillings[collection.name] ?? filling {
        case .everything: nil
        case .newest(let count): Int64(max(0, count))
        }
    }
}

extension CollectionSchema {
    /// Records belong to a scope that another record opens.
    var isEvictable: Bool { if case .field = scope { true } else { false } }
}
