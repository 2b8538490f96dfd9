public import Foundation
public import Tidemark

/// The attachment of a message: a picture or a file.
///
/// The message itself carries what a list shows at once: kind, size, and a small preview. The bytes travel separately:
/// to the server when there is a connection, from it when the app looks.
///
///     let photo = MessageAttachment(.image, bytes: jpeg, contentType: "image/jpeg", width: 1_024, height: 768, preview: tiny)
///     try await chat.messages.send("look", to: room, attachment: photo, bytes: jpeg)
///     let seen = try await chat.messages.bytes(of: photo, in: room)       // on any device of a member
public struct MessageAttachment: Codable, Hashable, Sendable {
    /// The kind of an attachment. It is open: a kind from a newer version of the app is shown as a file.
    public struct Kind: RawRepresentable, Codable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// A picture, shown in the list.
        public static let image = Kind(rawValue: "image")
        /// A file, opened by another program.
        public static let file = Kind(rawValue: "file")
    }

    public var kind: Kind
    /// The lowercase SHA-256 of the bytes: their name in the store and on the server.
    public var digest: String
    public var byteCount: Int
    /// The content type, as in HTTP: `image/jpeg`.
    public var contentType: String
    /// The file's name, if it has one.
    public var name: String?
    /// The width of an image, in pixels.
    public var width: Int?
    /// The height of an image, in pixels.
    public var height: Int?
    /// A small picture to show before the bytes arrive. The whole attachment has at most 8 KiB as JSON: about 5 KB for
    /// this.
    public var preview: Data?
    /// The URL of the bytes in a storage of the app's own; the message was then sent without `bytes`.
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

    /// The digest of the bytes, for `SyncStore.blobs`; `nil` when another app stored something else there.
    public var blob: BlobDigest? { BlobDigest(checking: digest) }

    /// Returns true when these are the bytes that were sent. Check with it what a storage of the app's own returns.
    public func matches(_ bytes: Data) -> Bool { bytes.count == byteCount && BlobDigest(of: bytes).text == digest }
}
