/// Bounds on what one record or transaction may hold.
package struct ModelLimits: Hashable, Sendable {
    /// Bytes of a record's canonical body.
    package var recordBytesMax = 256 * 1024
    /// Mutations in one transaction.
    package var mutationsMax = 64
    /// Bytes of one transaction as it is sent.
    package var transactionBytesMax = 256 * 1024
    /// Members that one scope record may list.
    package var membersMax = 10_000

    /// Keys of a map under rule `keys`. The same for every server and device, since the rule must give the same result
    /// on all.
    package static let mapKeysMax = 1_000
    /// Bytes of one key of such a map.
    package static let mapKeyBytesMax = 128

    package init() {}
}
