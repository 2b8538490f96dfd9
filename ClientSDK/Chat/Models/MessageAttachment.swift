import Crypto
public import Foundation

/// What a message carries besides its text: a picture, a file.
///
/// The bytes are kept by a storage of the app's own, under their digest. What travels with the message is what a list shows
/// at once: what it is, how large, where the bytes are, and a small preview; the bytes are fetched when somebody looks.
///
///     let photo = MessageAttachment(.image, bytes: jpeg, contentType: "image/jpeg", width: 1_024, height: 768, preview: tiny)
///     try await storage.upload(jpeg, as: photo.digest)
///     try await chat.messages.send("look", to: room, attachment: photo)
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
    /// The lowercase SHA-256 of the bytes: the name under which the app's storage keeps them.
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
    /// Where the bytes are, for a storage that cannot tell from the digest.
    public var url: URL?

    public init(
        _ kind: Kind, bytes: Data, contentType: String, name: String? = nil, width: Int? = nil, height: Int? = nil,
        preview: Data? = nil, url: URL? = nil
    ) {
        self.kind = kind
        digest = Self.digest(of: bytes)
        byteCount = bytes.count
        self.contentType = contentType
        self.name = name
        self.width = width
        self.height = height
        self.preview = preview
        self.url = url
    }

    /// True when these are the bytes that were sent: ask it of whatever a storage gives.
    public func matches(_ bytes: Data) -> Bool { bytes.count == byteCount && Self.digest(of: bytes) == digest }

    private static func digest(of bytes: Data) -> String {
        SHA256.hash(data: bytes).map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
    }
}
