public import Foundation
public import Tidemark

/// What a message carries besides its text: a picture, a file.
///
/// What travels with the message is what a list shows at once: what it is, how large, and a small preview. The bytes travel
/// apart, up when there is a connection, down when somebody looks.
///
///     let photo = MessageAttachment(.image, bytes: jpeg, contentType: "image/jpeg", width: 1_024, height: 768, preview: tiny)
///     try await chat.messages.send("look", to: room, attachment: photo, bytes: jpeg)
///     let seen = try await chat.messages.bytes(of: photo, in: room)       // on any device of a member
public struct MessageAttachment: Codable, Hashable, Sendable {
    /// What it is. Open: a kind from a newer version of the app is shown as a file.
    public struct Kind: RawRepresentable, Codable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// To be shown in the list.
        public static let image = Kind(rawValue: "image")
        /// To be opened by another program.
        public static let file = Kind(rawValue: "file")
    }

    public var kind: Kind
    /// The lowercase SHA-256 of the bytes: the name under which the store and the server keep them.
    public var digest: String
    public var byteCount: Int
    /// As in HTTP: `image/jpeg`.
    public var contentType: String
    /// The file's name, where it has one.
    public var name: String?
    /// Of an image, in pixels.
    public var width: Int?
    /// Of an image, in pixels.
    public var height: Int?
    /// A small picture to be shown before the bytes are here. The whole attachment has 8 KiB as JSON: about 5 KB of this.
    public var preview: Data?
    /// Where the bytes are when a storage of the app's own keeps them: they were then sent without `bytes`.
    public var url: URL?

    public init(
        _ kind: Kind, bytes: Data, contentType: String, name: String? = nil, width: Int? = nil, height: Int? = nil,
        preview: Data? = nil, url: URL? = nil
    ) {
        self.kind = kind
        digest = BlobDigest(of: bytes).text
        byteCount = bytes.count
        self.contentType = contentType
        self.name = name
        self.width = width
        self.height = height
        self.preview = preview
        self.url = url
    }

    /// The name of the bytes, for `SyncStore.blobs`; `nil` when another app put something else there.
    public var blob: BlobDigest? { BlobDigest(checking: digest) }

    /// True when these are the bytes that were sent: ask it of whatever a storage of the app's own gives.
    public func matches(_ bytes: Data) -> Bool { bytes.count == byteCount && BlobDigest(of: bytes).text == digest }
}
