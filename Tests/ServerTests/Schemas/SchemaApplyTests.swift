import Foundation
import NIOCore
import Testing
import TidemarkHub
import TidemarkModel
import TidemarkNIOTransport
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkNode
@testable import TidemarkOperations

/// The chat's schema and changed versions of it.
enum ChatDocuments {
    static func chat(_ replacements: (String, String)...) throws -> String {
        var text = try String(contentsOfFile: TestServer.schemaFile, encoding: .utf8)
        for (from, to) in [(#""version": 2"#, #""version": 3"#)] + replacements {
            guard text.contains(from) else { throw ConfigurationError(.schema, "no \(from) in the chat's schema") }
            text = text.replacing(from, with: to)
        }
        return text
    }

    static let email = #""email": { "type": "string", "max": 320 },"#
    /// Users have a mood, and their e-mail is renamed to contact.
    static func wider() throws -> String {
        try chat((email, #""contact": { "type": "string", "max": 320, "was": "email" }, "mood": "string","#))
    }
    /// Users no longer have an e-mail.
    static func narrower() throws -> String { try chat((email, "")) }
}

extension TestServer {
    func apply(_ call: SchemaCall, as user: String = "operator", isOperator: Bool = true) async throws -> NIOHTTPAnswer
    {
        let token = try token(user, isOperator: isOperator)
        return try await post(
            "/v1/schema", body: String(decoding: call.encode(), as: UTF8.self),
            headers: [("Authorization", "Bearer \(token)")])
    }
}

@Suite(.timeLimit(.minutes(5))) struct SchemaApplyTests {
    private func mood(_ number: UInt64, field: String = "mood") -> Transaction {
        Transaction(
            id: Sample.id(number),
            mutations: [
                Mutation(
                    key: RecordKey(collection: "users", id: Sample.id(number)),
                    action: .create(["displayName": "Ann", field == "mood" ? "mood" : "email": "fine"]))
            ], clientTime: 0)
    }

    @Test func `an added field is accepted from then on, also on earlier connections`() async throws {
        try await TestServer.running { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, mood(10))
            let refused = try await ann.settled(through: 1)
            #expect(refused.last?.settled?.outcomes.last?.rejection?.code == .invalid)
            let answer = try await server.apply(SchemaCall(document: ChatDocuments.wider(), note: "ann"))
            #expect(answer.status == 200 && answer.text.contains(#""applied":true,"revision":2"#), "\(answer.text)")
            try await ann.push(from: 2, mood(11))
            let taken = try await ann.settled(through: 2)
            #expect(taken.last?.settled?.outcomes.last?.rejection == nil)
            let bob = try await TestClient.greeting(server, as: "bob", 2)
            #expect(try await bob.welcome().schema == SchemaLabel(name: "chat", version: 3, revision: 2))
        }
    }

    @Test func `another node follows, and both accept the field then`() async throws {
        let (store, schemas) = (InMemoryStore(), InMemorySchemaStore())
        let change: @Sendable (inout ServerLimits) -> Void = { $0.node.schemaEvery = .milliseconds(5) }
        @Sendable func opened() -> OpenedStore { OpenedStore(store, schemas: schemas, isShared: true) }
        try await TestServer.running(over: opened(), change: change) { one in
            try await TestServer.running(over: opened(), change: change) { other in
                let bob = try await TestClient.welcomed(other, as: "bob", 2)
                let wider = try ChatDocuments.wider()
                #expect(try await one.apply(SchemaCall(document: wider)).status == 200)
                try await eventually("the other node has the second revision") {
                    try await other.call("GET", "/v1/info").text.contains(#""revision":2"#)
                }
                try await bob.push(from: 1, mood(12))
                let frames = try await bob.settled(through: 1)
                #expect(frames.last?.settled?.outcomes.last?.rejection == nil)
            }
        }
    }

    @Test func `a change that takes something from old apps is refused until it is accepted`() async throws {
        try await TestServer.running { server in
            let narrower = try ChatDocuments.narrower()
            let refused = try await server.apply(SchemaCall(document: narrower))
            #expect(refused.status == 409 && refused.text.contains(#""code":"narrows""#))
            #expect(refused.text.contains("users.email") && refused.text.contains("taken away"))
            #expect(server.node.context.revision == 1)
            let accepted = try await server.apply(SchemaCall(document: narrower, isAccepted: true))
            #expect(accepted.status == 200 && server.node.context.revision == 2)
        }
    }

    @Test func `a dry run says what would change, for which apps, and changes nothing`() async throws {
        let schemas = InMemorySchemaStore()
        try await TestServer.running(over: OpenedStore(InMemoryStore(), schemas: schemas)) { server in
            schemas.note([Sample.id(1): "chat 1.9", Sample.id(2): "chat 2.1"])
            let call = SchemaCall(document: try ChatDocuments.narrower(), requirement: "2", isDryRun: true)
            let answer = try await server.apply(call)
            #expect(answer.status == 200 && answer.text.contains(#""applied":false"#))
            for words in [
                #""what":"users.email""#, #""records":0"#, #"{"devices":1,"seen":"#, #""app":"chat 1.9","ended":true"#,
                #""app":"chat 2.1","ended":false"#, #""whole":true"#,
            ] { #expect(answer.text.contains(words), "\(words) in \(answer.text)") }
            #expect(try await schemas.revision(after: 0)?.number == 1)
            #expect(server.node.context.revision == 1)
        }
    }

    @Test func `the same document again changes nothing, and white space does not matter`() async throws {
        try await TestServer.running { server in
            let same = try String(contentsOfFile: TestServer.schemaFile, encoding: .utf8).replacing("  ", with: " ")
            let answer = try await server.apply(SchemaCall(document: same))
            #expect(answer.status == 200 && answer.text.contains(#""applied":false,"revision":1"#))
        }
    }

    @Test func `an invalid document, another app's, and unknown members are refused with the reason`()
        async throws
    {
        try await TestServer.running { server in
            for (call, words) in [
                (SchemaCall(document: "{"), "the document"),
                (SchemaCall(document: try ChatDocuments.chat((#""name": "chat""#, #""name": "shop""#))), "is called"),
                (SchemaCall(requirement: "soon"), "is not a list of versions"),
                (SchemaCall(requirement: "2", note: String(repeating: "x", count: 2_000)), "note"),
            ] {
                let answer = try await server.apply(call)
                #expect(answer.status == 400 && answer.text.contains(words), "\(answer.text)")
            }
            let token = try server.token("operator", isOperator: true)
            let unknown = try await server.post(
                "/v1/schema", body: #"{"dryrun":true}"#, headers: [("Authorization", "Bearer \(token)")])
            #expect(unknown.status == 400 && unknown.text.contains("dryrun"))
            #expect(server.node.context.revision == 1)
        }
    }

    @Test func `only an operator may call: a user's token and a service's are 403`() async throws {
        try await TestServer.running { server in
            let call = SchemaCall(requirement: "2")
            #expect(try await server.apply(call, isOperator: false).status == 403)
            let service = try server.token("backend", isService: true)
            let headers = [("Authorization", "Bearer \(service)")]
            #expect(try await server.call("GET", "/v1/schema", headers: headers).status == 403)
            #expect(try await server.post("/v1/schema", body: "{}").status == 401)
            let own = [("Authorization", "Bearer \(try server.token("o", isOperator: true))")]
            let shown = try await server.call("GET", "/v1/schema", headers: own)
            #expect(
                shown.status == 200 && shown.text.contains(#""revision":1"#) && shown.text.contains("participantIds"))
        }
    }

    @Test func `a schema that shares other scopes makes connections reconnect, and the next welcome has them`()
        async throws
    {
        try await TestServer.running { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            let news = try ChatDocuments.chat(
                (
                    #""collections": {"#,
                    #""collections": { "news": { "scope": { "shared": "news" }, "fields": { "text": "string" } },"#
                ))
            #expect(try await server.apply(SchemaCall(document: news)).status == 200)
            guard case .goAway = try await ann.next() else {
                Issue.record("no goaway")
                return
            }
            #expect(try await ann.closeCode() == 1001)
            let again = try await TestClient.greeting(server, as: "ann", 1, isNew: false, counter: 2)
            #expect(try await again.welcome().added.map(\.scope).contains(ScopeID("news")))
        }
    }

    @Test func `a node that cannot read a later schema keeps its own, and is not ready`() async throws {
        let schemas = InMemorySchemaStore()
        let change: @Sendable (inout ServerLimits) -> Void = { $0.node.schemaEvery = .milliseconds(5) }
        let opened = OpenedStore(InMemoryStore(), schemas: schemas, isShared: true)
        try await TestServer.running(over: opened, change: change) { server in
            #expect(try await server.call("GET", "/readyz").status == 200)
            let future = SchemaRevision(number: 2, document: Array(#"{"tidemark": 2}"#.utf8), applied: 1)
            #expect(try await schemas.keep(future))
            var ready = try await server.call("GET", "/readyz")
            while ready.status == 200 { ready = try await server.call("GET", "/readyz") }
            #expect(ready.status == 503 && ready.text.contains("schema_unread"), "\(ready.text)")
            _ = try await TestClient.welcomed(server, as: "ann", 1)
        }
    }
}
