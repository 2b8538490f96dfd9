/// A short text identity: 1 to 128 bytes of UTF-8 without control characters.
public protocol NameID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The text as it stands on the wire and in the database.
    var text: String { get }
    /// Takes text that is already known to be valid; use `init(checking:)` for input.
    init(_ text: String)
}

extension NameID {
    /// Checks length and characters; `nil` when the text is empty, longer than 128 bytes or holds a control character.
    public init?(checking text: String) {
        guard (1...128).contains(text.utf8.count), !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) else {
            return nil
        }
        self.init(text)
    }

    public var description: String { text }

    /// Names are their bytes: two spellings of one character are two names, here as in the database.
    public static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }

    public func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }

    public static func < (left: Self, right: Self) -> Bool { left.text.utf8.lexicographicallyPrecedes(right.text.utf8) }
}

/// A user as the token's `sub` names it.
public struct UserID: NameID {
    public let text: String
    public init(_ text: String) { self.text = text }
}

/// The tenant: one total order of changes, the first column of every key.
public struct WorkspaceID: NameID {
    public let text: String
    public init(_ text: String) { self.text = text }
}

/// The unit of access and of subscription: a conversation, a shop. For a record that is a scope, its `localID` as text.
public struct ScopeID: NameID {
    public let text: String
    public init(_ text: String) { self.text = text }

    /// The scope that the record `id` opens.
    public init(record id: LocalID) { self.init(id.description) }
}

/// Where a change stands in its workspace's order; 1 is the first, 0 means "before everything".
public typealias SequenceNumber = Int64
/// The lifetime of a workspace's order; raised when the database was restored to an older state.
public typealias Epoch = Int64
/// Milliseconds since 1970-01-01T00:00:00Z.
public typealias Milliseconds = Int64
