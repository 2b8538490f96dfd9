/// The schema of the chat domain as a document: the one file with which apps open their store, and the default of a
/// development server.
package enum ChatDocument {
    /// The document as JSON.
    package static var json: [UInt8] { PackageResources.chat_schema_json }
}
