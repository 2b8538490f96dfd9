public import Tidemark
import TidemarkChatSchema

/// The chat's schema: apps open their store with it, and `tidemark serve --dev` takes it when it is given none.
public enum ChatSchema: Sendable {
    /// The document, JSON.
    public static var document: [UInt8] { ChatDocument.json }

    /// The document, read.
    public static func schema() throws(SchemaError) -> Schema { try Schema(json: document) }
}
