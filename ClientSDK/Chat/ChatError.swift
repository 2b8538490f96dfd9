/// Why the chat refused a call. What the store refuses arrives as `StoreError`.
public enum ChatError: Error, Hashable, Sendable {
    /// That message did not fail.
    case notFailed
    /// A direct conversation has its two members for ever.
    case direct
    /// The attachment was made of other bytes than are to be sent with it.
    case otherBytes
    /// The attachment names no bytes that a store keeps.
    case noBytes
    /// There is no such conversation here.
    case notFound
    /// Others have every id that a direct conversation with that user could have.
    case taken
}
