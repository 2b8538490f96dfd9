/// The reason why the chat refused a call. Refusals of the store arrive as `StoreError`.
public enum ChatError: Error, Hashable, Sendable {
    /// The message has not failed.
    case notFailed
    /// The members of a direct conversation cannot change.
    case direct
    /// The attachment was made from other bytes than those to be sent with it.
    case otherBytes
    /// The attachment does not refer to bytes of the store.
    case noBytes
    /// There is no such conversation on this device.
    case notFound
    /// Other conversations have every id that a direct conversation with that user could have.
    case taken
}
