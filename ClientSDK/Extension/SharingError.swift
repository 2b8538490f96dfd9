/// Why a shared folder refused a call. Whatever the code: what was written before is there.
///
///     do { try shared.write { $0.create(message) } } catch let error as SharingError where error.code == .full {
///         show("Open the app once: \(error)")
///     }
public struct SharingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What to branch on.
    public enum Code: Hashable, Sendable {
        /// The app has no store open with this folder that its user is signed in to: there is nobody to write for.
        case notSignedIn
        /// The spool holds as much as `SharingLimits` allows: it is adopted when the app runs.
        case full
        /// One write, or one published value, is larger than `SharingLimits` allows.
        case tooLarge
        /// A model or a value does not encode, or what was published does not decode as the type that is asked for.
        case coding
        /// A name for a published value that is not 1 to 64 of `a`–`z`, `A`–`Z`, `0`–`9`, `-` and `_`.
        case name
        /// There is no room on the disk; nothing was written.
        case diskFull
        /// The system refuses to read or write in the folder; nothing was written.
        case unusable
        /// It was written, and the disk did not confirm it: it will be sent, but may not outlive a power cut. Do not write
        /// it again.
        case unconfirmed
        /// A file in the folder is cut, or not of this SDK.
        case damaged
        /// A file in the folder is of a newer version of this SDK.
        case newer
        /// The store was opened without a shared folder, or is closed.
        case notShared
    }

    /// What kind of refusal it is.
    public let code: Code
    /// A sentence that names the bound or the file.
    public let message: String

    /// An error of a stand-in, in an app's tests.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
