public import TidemarkModel

/// The coding of a digest as its digits, which a field of type `blob` holds.
extension BlobDigest: Codable {
    /// - Throws: `DecodingError` for anything but 64 lower-case hexadecimal digits.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let digest = BlobDigest(checking: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not the digits of a SHA-256")
        }
        self = digest
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
