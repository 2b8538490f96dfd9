/// Bounds on what one record or transaction may hold.
package struct ModelLimits: Hashable, Sendable {
    /// Bytes of a record's canonical body.
    package var recordBytesMax = 256 * 1024
    /// Mutations in one transaction.
    package var mutationsMax = 64
    /// Bytes of one transaction as it stands on the wire.
    package var transactionBytesMax = 256 * 1024
    /// Members that one scope record may list.
    package var membersMax = 10_000

    package init() {}
}
