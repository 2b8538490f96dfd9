public import Tidemark

/// The repair shop's schema: start the server with it and open the app's store with it.
public enum RepairShopSchema: Sendable {
    /// The document, JSON; write it to a file for `tidemark serve --schema FILE`.
    public static var document: [UInt8] { PackageResources.repairshop_schema_json }

    /// The document, read.
    public static func schema() throws(SchemaError) -> Schema { try Schema(json: document) }
}
