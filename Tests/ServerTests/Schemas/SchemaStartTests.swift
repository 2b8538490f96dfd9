import Foundation
import Logging
import Testing
import TidemarkHub
import TidemarkModel
import TidemarkStore

@testable import TidemarkAssembly

/// The schema with which a server starts.
@Suite struct SchemaStartTests {
    private let schemas = InMemorySchemaStore()

    private func start(_ document: String?, isDevelopment: Bool = false) async throws -> Int64? {
        var configuration = try ServerConfiguration(
            environment: ["TIDEMARK_SECRET": TestServer.secret, "TIDEMARK_DEV": isDevelopment ? "1" : "0"])
        configuration.schema = try document.map { try SchemaDocument(Array($0.utf8), from: "app.schema.json") }
        return try await OpenedStore(InMemoryStore(), schemas: schemas)
            .schema(for: configuration, now: 5, logger: Logger(label: "test")).revision
    }

    @Test func `the first start activates its document, and later ones need none`() async throws {
        #expect(try await start(ChatDocuments.chat()) == 1)
        #expect(try await start(ChatDocuments.chat()) == 1)
        #expect(try await start(nil) == 1)
        #expect(try await schemas.revision(after: 0)?.applied == 5)
    }

    @Test func `without a document anywhere the start is refused with what to do`() async throws {
        let error = await #expect(throws: ConfigurationError.self) { try await start(nil) }
        #expect(error?.setting == "TIDEMARK_SCHEMA" && error?.reason.contains("tidemark schema sample") == true)
        let configuration = try ServerConfiguration(
            environment: ["TIDEMARK_SECRET": TestServer.secret, "TIDEMARK_DATABASE": "sqlite:/nonexistent/t.sqlite"])
        #expect(throws: ConfigurationError.self) { try configuration.requireSchemaOrDatabase() }
        #expect(try ServerConfiguration(environment: ["TIDEMARK_DEV": "1"]).schema == SchemaDocument.sample())
    }

    @Test func `a document other than the active one is refused with what to do, except in development`() async throws {
        _ = try await start(ChatDocuments.chat())
        let error = await #expect(throws: ConfigurationError.self) { try await start(ChatDocuments.wider()) }
        #expect(error?.reason.contains("tidemark schema apply") == true && error?.reason.contains("revision 1") == true)
        #expect(try await start(ChatDocuments.wider(), isDevelopment: true) == 2)
        #expect(try await start(nil) == 2)
        let other = try ChatDocuments.chat((#""name": "chat""#, #""name": "shop""#))
        await #expect(throws: ConfigurationError.self) { try await start(other, isDevelopment: true) }
    }

    @Test func `an earlier active file does not stop a restart, and does not become active again`() async throws {
        _ = try await start(ChatDocuments.chat())
        let next = SchemaRevision(number: 2, document: Array(try ChatDocuments.wider().utf8), applied: 6)
        #expect(try await schemas.keep(next))
        #expect(try await start(ChatDocuments.chat()) == 2)
        #expect(try await schemas.revision(after: 0) == next)
    }

    @Test func `an active document that this version cannot read is refused with what to do`() async throws {
        let future = SchemaRevision(number: 1, document: Array(#"{"tidemark": 2}"#.utf8), applied: 1)
        _ = try await schemas.begin(with: future)
        let error = await #expect(throws: ConfigurationError.self) { try await start(ChatDocuments.chat()) }
        #expect(error?.reason.contains("run a later one") == true)
    }
}
