public import Tidemark

/// The chat's schema: the one document that the server uses when it is given none, and that apps open their store with.
public enum ChatSchema: Sendable {
    /// The document, JSON.
    public static var document: [UInt8] { PackageResources.chat_schema_json }

    /// The document, read.
    public static func schema() throws(SchemaError) -> Schema { try Schema(json: document) }
}
