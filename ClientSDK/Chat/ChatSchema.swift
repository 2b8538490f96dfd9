public import Tidemark
import TidemarkChatSchema

/// The chat's schema: apps open their store with it, and it is the default of `tidemark serve --dev`.
public enum ChatSchema: Sendable {
    /// The schema document, as JSON.
    public static var document: [UInt8] { ChatDocument.json }

    /// Returns the parsed schema.
    ///
    /// - Throws: never for the shipped document.
    public static func schema() throws(SchemaError) -> Schema { try Schema(json: document) }
}
