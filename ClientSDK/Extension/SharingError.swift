/// The reason why a shared folder refused a call. Earlier writes are never affected.
///
///     do { try shared.write { $0.create(message) } } catch let error as SharingError where error.code == .full {
///         show("Open the app once: \(error)")
///     }
public struct SharingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of refusal, to branch on.
    public enum Code: Hashable, Sendable {
        /// No user is signed in to a store of the app that is open with this folder: there is nobody to write for.
        case notSignedIn
        /// The spool is as full as `SharingLimits` allows. The app empties it when it runs.
        case full
        /// One write, or one published value, is larger than `SharingLimits` allows.
        case tooLarge
        /// A model or a value cannot be encoded, or a published value cannot be decoded as the requested type.
        case coding
        /// A name for a published value that is not 1 to 64 of `a`–`z`, `A`–`Z`, `0`–`9`, `-` and `_`.
        case name
        /// The disk is full; nothing was written.
        case diskFull
        /// The system refuses to read or write in the folder; nothing was written.
        case unusable
        /// The write is done, but the disk did not confirm it: it will be sent, but may be lost in a power cut. Do not
        /// write it again.
        case unconfirmed
        /// A file in the folder is cut, or not one of this SDK.
        case damaged
        /// A newer version of this SDK wrote a file in the folder.
        case newer
        /// The store was opened without a shared folder, or is closed.
        case notShared
    }

    /// The kind of refusal.
    public let code: Code
    /// A sentence that names the bound or the file.
    public let message: String

    /// Creates an error of a stand-in, in an app's tests.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
