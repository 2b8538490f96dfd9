import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

/// Models whose id is the text of a key.
@Suite(.timeLimit(.minutes(5))) struct KeyTests {
    private struct SKU: SyncModelID, RawRepresentable { var rawValue: String }

    private struct Product: SyncModel, Equatable {
        static let collection = "products"
        var id: SKU
        var name: String
        var price: Int?
    }

    /// The same, read by hand, with plain text.
    private struct HandProduct: SyncModel {
        static let collection = "products"
        var id: String
        var name: String

        init(reading record: inout RecordReader) throws {
            id = try record["id"]
            name = try record["name"]
        }
    }

    private struct Line: SyncModel {
        static let collection = "lines"
        var id = UUID()
        var productId: UUID
    }

    private struct ByUUID: SyncModel {
        static let collection = "products"
        var id = UUID()
        var name: String
    }

    private struct LineByText: SyncModel {
        static let collection = "lines"
        var id: String
    }

    private let store: SyncStore
    private var products: Repository<Product> { store.repository(Product.self) }

    init() throws {
        let text = """
            {"tidemark": 1, "collections": {
              "products": {"scope": {"shared": "shop"}, "id": {"name": "product", "key": "sku"}, "fields": {
                "sku": {"type": "string", "required": true, "merge": "immutable"}, "name": "string", "price": "integer"}},
              "lines": {"scope": {"shared": "shop"}, "fields": {"productId": {"type": "reference", "to": "products"}}}}}
            """
        store = try .inMemory(
            account: Bench.user, schema: try TestSchema.schema(text),
            models: [Product.self, HandProduct.self, Line.self],
            environment: .counting())
    }

    private func sku(_ text: String) -> SKU { SKU(rawValue: text) }

    private func fill() async throws {
        try await store.write { batch in
            for (sku, name) in [("b", "nail"), ("a", "pin"), ("c", "bolt")] {
                batch.create(Product(id: SKU(rawValue: sku), name: name, price: 3))
            }
        }
    }

    @Test func `a record is created, read, changed, deleted and restored by its key`() async throws {
        try await fill()
        #expect(try await products.read(sku("a")) == Product(id: sku("a"), name: "pin", price: 3))
        #expect(try await products.read(sku("A")) == nil)
        #expect(try await store.repository(HandProduct.self).read("a")?.name == "pin")
        try await products.update(sku("a")) { $0.name = "tack" }
        let seen = try await store.read { [id = sku("a")] in try $0.read(Product.self, id)?.name }
        #expect(seen == "tack")
        var live = products.observe(id: sku("a")).makeAsyncIterator()
        #expect(try await live.next()??.name == "tack")
        try await products.delete(sku("a"))
        #expect(try await live.next() == .some(nil))
        try await store.write { [id = sku("a")] batch in batch.undelete(Product(id: id, name: "pin")) }
        #expect(try await products.read(sku("a"))?.name == "pin")
    }

    @Test func `the record has the id that the key makes, and the field holds the key`() async throws {
        try await fill()
        let id = DerivedID.make(["product", "a"])
        #expect(try products.recordID(sku("a")) == UUID(id))
        let bench = Bench(database: store.database)
        let stored: Fields = ["sku": "a", "name": "pin", "price": 3]
        #expect(try bench.fields(RecordKey(collection: "products", id: id)) == stored)
    }

    @Test func `filters, orders and pages use the key as the id`() async throws {
        try await fill()
        func ids(_ filter: ModelFilter<Product>, _ order: [ModelOrder<Product>] = [.by(\.id)]) async throws -> [String]
        {
            try await products.readAll(where: filter, order: order).map(\.id.rawValue)
        }
        #expect(try await ids(\.id == sku("b")) == ["b"])
        #expect(try await ids(\.id != sku("b")) == ["a", "c"])
        #expect(try await ids(.is(\.id, oneOf: [sku("a"), sku("c"), sku("x")])) == ["a", "c"])
        #expect(try await ids(.named(.hasPrefix("id", "c"))) == ["c"])
        #expect(try await ids(!.all).isEmpty)
        #expect(try await ids(.all, [.by(\.id, .descending)]) == ["c", "b", "a"])
        for order in [[.by(\.id)], [.by(\.price), .by(\.id)], [.newestFirst]] as [[ModelOrder<Product>]] {
            var paged: [Product] = []
            while paged.count < 9 {
                let page = try await products.readAll(where: .all, order: order, limit: 1, after: paged.last)
                if page.isEmpty { break }
                paged += page
            }
            #expect(paged == (try await products.readAll(where: .all, order: order)), "\(order)")
        }
    }

    @Test func `an index serves the key`() async throws {
        try await fill()
        _ = try await products.readAll(where: \.id == sku("b"), in: ScopeID("shop"))
        _ = try await products.readAll(where: .is(\.id, oneOf: [sku("a"), sku("b")]))
        #expect(try await store.diagnostics().unindexed.isEmpty)
        _ = try await products.readAll(where: \.price == 3)
        #expect(try await store.diagnostics().unindexed.map(\.fields) == [["price"]])
    }

    @Test func `a reference is joined by the id that the key makes`() async throws {
        try await fill()
        let reference = try products.recordID(sku("b"))
        try await store.repository(Line.self).create(Line(productId: reference))
        let lines = store.repository(Line.self).joining(\.productId, Product.self)
        #expect(try await lines.readAll(joined: \.id == sku("b")).map(\.joined?.name) == ["nail"])
        #expect(try await lines.readAll(joined: \.id == sku("a")).isEmpty)
        var pages = lines.observe().makeAsyncIterator()
        #expect(try await pages.next()?.map(\.joined?.name) == ["nail"])
    }

    @Test func `an existing key, or none, is refused before anything is written`() async throws {
        try await fill()
        var error = await #expect(throws: StoreError.self) {
            try await products.create(Product(id: sku("a"), name: "again"))
        }
        #expect(error?.code == .rejected(.idConflict))
        for text in ["", "a\n", String(repeating: "k", count: 129)] {
            error = await #expect(throws: StoreError.self) {
                try await products.create(Product(id: sku(text), name: "x"))
            }
            #expect(error?.code == .coding, "\(text)")
            error = await #expect(throws: StoreError.self) { try await products.read(sku(text)) }
            #expect(error?.message == "products: a key is 1 to 128 bytes without control characters")
        }
        #expect(try await products.count() == 3)
    }

    @Test func `an id of the other kind is named when the store opens`() throws {
        var error = #expect(throws: StoreError.self) { try store.check(ByUUID.self) }
        #expect(error?.message == "ByUUID.id: is UUID, and the field is string", "\(error?.message ?? "")")
        error = #expect(throws: StoreError.self) { try store.check(LineByText.self) }
        #expect(error?.code == .coding)
        #expect(error?.message.hasPrefix("lines: the schema has no key for it") == true, "\(error?.message ?? "")")
    }
}
