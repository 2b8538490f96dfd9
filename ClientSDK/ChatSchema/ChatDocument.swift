/// The schema of the chat domain as a document: the one file that apps open their store with, and that a server started
/// for trying things out takes.
package enum ChatDocument {
    /// JSON.
    package static var json: [UInt8] { PackageResources.chat_schema_json }
}
