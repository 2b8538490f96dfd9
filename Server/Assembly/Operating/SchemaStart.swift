import Foundation
package import Logging
import TidemarkChatSchema
package import TidemarkHub
package import TidemarkModel
import TidemarkStore

/// A schema document and its parsed schema.
package struct SchemaDocument: Hashable, Sendable {
    package let bytes: [UInt8]
    package let schema: Schema
    /// Its name for people: a path or another source.
    package let name: String

    /// - Throws: what is wrong with the document.
    package init(_ bytes: [UInt8], from name: String) throws(ConfigurationError) {
        guard bytes.count <= SchemaRevision.documentBytesMax else {
            throw ConfigurationError(.schema, "\(name): longer than \(SchemaRevision.documentBytesMax) bytes")
        }
        self.bytes = bytes
        self.name = name
        do throws(SchemaError) {
            schema = try Schema(json: bytes)
        } catch {
            throw ConfigurationError(.schema, "\(name): \(error)")
        }
    }

    /// The chat schema, for trying things out.
    package static func sample() throws(ConfigurationError) -> SchemaDocument {
        try SchemaDocument(ChatDocument.json, from: "the sample")
    }
}

extension ServerConfiguration {
    /// - Throws: when there is neither a schema nor a database file that could hold one. The check runs before a file
    ///   is made.
    func requireSchemaOrDatabase() throws(ConfigurationError) {
        guard schema == nil, case .sqlite(let path) = database, !FileManager.default.fileExists(atPath: path) else {
            return
        }
        throw Self.noSchema
    }

    fileprivate static let noSchema = ConfigurationError(
        .schema,
        "there is no schema: it defines what apps may store. Name its file here ('tidemark schema sample' prints one to"
            + " begin with), or start with --dev to try things out")
}

extension OpenedStore {
    /// Returns the schema that is in force on the database. A document that the configuration names is put in force if
    /// there is none, so on the first start; in development also if there is another one. A document that was in force
    /// earlier changes nothing: the file of an earlier schema must not stop the next restart.
    ///
    /// - Throws: `ConfigurationError` when there is none, or when the configuration names one that never was in force.
    package func schema(
        for configuration: ServerConfiguration, now: Milliseconds, logger: Logger
    ) async throws -> SchemaInForce {
        let given = configuration.schema
        let first = given.map { SchemaRevision(document: $0.bytes, applied: now, note: "the first start") }
        let beginning = try await schemas.begin(with: first)
        guard let stored = beginning.newest else { throw ServerConfiguration.noSchema }
        let schema = try stored.schema()
        let inForce = SchemaInForce(schema, revision: stored.number, requirement: stored.requirement)
        guard let given, given.schema != schema else { return inForce }
        if beginning.isKnown, !configuration.isDevelopment {
            logger.warning(
                "The given schema is an earlier one: the newer one stays in force; start without it",
                metadata: ["schema": "\(given.name)", "revision": "\(stored.number)"])
            return inForce
        }
        guard configuration.isDevelopment, given.schema.name == schema.name else {
            throw ConfigurationError(
                .schema,
                "\(given.name) is not the schema that is in force on this database (\(schema.name), version"
                    + " \(schema.version), revision \(stored.number)): start without it, and put it in force with 'tidemark"
                    + " schema apply', which first reports the effects on apps in use")
        }
        logger.warning(
            "Development mode: the given schema replaces the one that was in force",
            metadata: ["schema": "\(given.name)"])
        let next = SchemaRevision(
            number: stored.number + 1, document: given.bytes, requirement: stored.requirement, applied: now,
            note: "a start in development")
        guard let newest = try await schemas.begin(with: next).newest, newest == next else {
            throw ConfigurationError(.schema, "another server put another schema in force meanwhile: start again")
        }
        return SchemaInForce(given.schema, revision: newest.number, requirement: newest.requirement)
    }
}

extension SchemaRevision {
    func schema() throws -> Schema {
        do throws(SchemaError) {
            return try Schema(json: document)
        } catch {
            throw ConfigurationError(
                .schema,
                "the schema that is in force on this database (revision \(number)) cannot be read by this version of"
                    + " Tidemark: run a later one (\(error))")
        }
    }
}
