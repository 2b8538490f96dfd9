public import Foundation
package import TidemarkModel

/// The folder of an App Group in which an app and its extensions leave files for each other: writes for the app to adopt,
/// and values for extensions to show. No extension opens the app's database, and nobody holds a lock.
///
///     import TidemarkExtension                        // in the extension: no database, no network
///
///     let shared = SharedFolder(container.appending(path: "tidemark"))
///     try shared.write { batch in batch.create(Message(conversationId: id, text: text)) }
///     let inbox = try shared.published("inbox", as: [Row].self)
///
/// The app opens its store with the same folder, `SyncStore.open(account:at:schema:shared:)`. Its database stays in a
/// folder of its own: an app that is suspended while it holds a lock in an App Group is ended by the system.
///
/// All calls are short and block: file by file, each whole or not there.
public struct SharedFolder: Sendable {
    /// Where the files are.
    public let url: URL
    /// How much of them there may be.
    public let limits: SharingLimits
    package let now: @Sendable () -> Milliseconds
    package let random: @Sendable () -> (UInt64, UInt64)

    public init(_ url: URL, limits: SharingLimits = SharingLimits()) {
        self.init(
            url, limits: limits, now: { Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down)) },
            random: { (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max)) })
    }

    package init(
        _ url: URL, limits: SharingLimits = SharingLimits(), now: @escaping @Sendable () -> Milliseconds,
        random: @escaping @Sendable () -> (UInt64, UInt64)
    ) {
        (self.url, self.limits) = (url, limits)
        (self.now, self.random) = (now, random)
    }

    /// The user for whom an extension writes and reads; `nil` when nobody is signed in to the app.
    ///
    /// - Throws: `SharingError`.
    public var account: String? {
        get throws { try SignedIn.read(in: url)?.account.text }
    }

    /// Leaves a write for the app to adopt; it is durable when this returns, and sent under the user who is signed in now.
    ///
    ///     let id = try shared.write { batch in
    ///         let digest = batch.keep(jpeg, in: scope)
    ///         batch.create(Picture(albumId: album, file: digest))
    ///     }
    ///
    /// What the schema refuses is found when the app adopts it, and is then among the parked writes. Nothing is left by a
    /// batch without steps.
    ///
    /// - Returns: the id of the transaction that it becomes; `SyncStore.receipt(for:)` tells how that went.
    /// - Throws: `SharingError`, and nothing was written except with `unconfirmed`; what `body` throws.
    @discardableResult
    public func write(_ body: (inout SpoolBatch) throws -> Void) throws -> UUID {
        guard let signedIn = try SignedIn.read(in: url) else {
            throw SharingError(.notSignedIn, "nobody is signed in to the app: open it once")
        }
        var batch = SpoolBatch()
        try body(&batch)
        if let failure = batch.failure { throw failure }
        let time = now()
        let id = UniqueID.version7(milliseconds: time, random: random())
        guard !batch.steps.isEmpty else { return UUID(id) }
        let write = SpooledWrite(
            id: id, account: signedIn.account, schema: signedIn.schema, written: time, steps: batch.steps)
        try SpoolFolder(of: signedIn.account, in: url).add(write, limits)
        return UUID(id)
    }

    /// What the app published last under a name, for the user who is signed in; `nil` when there is none.
    ///
    /// - Throws: `SharingError`, as `coding` for a value of another type: an app of another version published it.
    public func published<Value: Decodable & Sendable>(
        _ name: String, as type: Value.Type = Value.self
    ) throws -> PublishedValue<Value>? {
        guard let signedIn = try SignedIn.read(in: url) else { return nil }
        return try PublishedFiles.read(name, of: signedIn.account, in: url, limits)
    }
}
