public import Tidemark

/// The repair shop's schema: start the server with it and open the app's store with it.
public enum RepairShopSchema: Sendable {
    /// The schema document as JSON; write it to a file for `tidemark serve --schema FILE`.
    public static var document: [UInt8] { PackageResources.repairshop_schema_json }

    /// Returns the parsed schema.
    ///
    /// - Throws: never for the shipped document.
    public static func schema() throws(SchemaError) -> Schema { try Schema(json: document) }
}
