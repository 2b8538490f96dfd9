public import Foundation
package import TidemarkModel

/// The folder of an App Group in which an app and its extensions leave files for each other: writes for the app to
/// adopt, and values for extensions to show. No extension opens the app's database, and no lock is held.
///
///     import TidemarkExtension                        // in the extension: no database, no network
///
///     let shared = SharedFolder(container.appending(path: "tidemark"))
///     try shared.write { batch in batch.create(Message(conversationId: id, text: text)) }
///     let inbox = try shared.published("inbox", as: [Row].self)
///
/// The app opens its store with the same folder, `SyncStore.open(account:at:schema:shared:)`. Its database stays in a
/// folder of its own: the system ends an app that is suspended while it holds a lock in an App Group.
///
/// All calls are short and block. Each file is either complete or absent.
public struct SharedFolder: Sendable {
    /// The URL of the folder.
    public let url: URL
    /// The limits for its files.
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

    /// The user for whom an extension writes and reads; `nil` when no user is signed in to the app.
    ///
    /// - Throws: `SharingError`.
    public var account: String? {
        get throws { try SignedIn.read(in: url)?.account.text }
    }

    /// Leaves a write for the app to adopt. It is durable when this returns, and is sent for the user who is signed in
    /// now.
    ///
    ///     let id = try shared.write { batch in
    ///         let digest = batch.addBlob(jpeg, in: scope)
    ///         batch.create(Picture(albumId: album, file: digest))
    ///     }
    ///
    /// If the schema rejects the write, the app finds that out when it adopts it: `Outbox.rejected()` has it. A batch
    /// without steps leaves nothing.
    ///
    /// - Returns: the id of the future transaction; `SyncStore.receipt(for:)` tells its result.
    /// - Throws: `SharingError`, and nothing was written except with `unconfirmed`; any error of `body`.
    @discardableResult
    public func write(_ body: (inout SpoolBatch) throws -> Void) throws -> UUID {
        guard let signedIn = try SignedIn.read(in: url) else {
            throw SharingError(.notSignedIn, "no user is signed in to the app: open it once")
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

    /// Returns the value that the app last published under a name for the signed-in user; `nil` when there is none.
    ///
    /// - Throws: `SharingError`; with `coding` for a value of another type, which another version of the app published.
    public func published<Value: Decodable & Sendable>(
        _ name: String, as type: Value.Type = Value.self
    ) throws -> PublishedValue<Value>? {
        guard let signedIn = try SignedIn.read(in: url) else { return nil }
        return try PublishedFiles.read(name, of: signedIn.account, in: url, limits)
    }
}
