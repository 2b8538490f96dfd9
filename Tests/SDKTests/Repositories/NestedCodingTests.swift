import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

/// Swift values whose own coding nests containers by hand, as enums with values and subclasses do.
@Suite struct NestedCodingTests {
    enum Shape: Codable, Equatable, Sendable {
        case dot
        case circle(radius: Double)
        case path([Int?], isClosed: Bool)
    }

    /// Rows in nested arrays, a header in a nested object, and an explicit null.
    struct Grid: Codable, Equatable, Sendable {
        enum Keys: String, CodingKey { case rows, header, note }
        enum HeaderKeys: String, CodingKey { case title, columns }

        var title: String
        var columns: [String]
        var rows: [[Int]]

        init(title: String, columns: [String], rows: [[Int]]) {
            (self.title, self.columns, self.rows) = (title, columns, rows)
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            let header = try container.nestedContainer(keyedBy: HeaderKeys.self, forKey: .header)
            title = try header.decode(String.self, forKey: .title)
            columns = try header.decode([String].self, forKey: .columns)
            var list = try container.nestedUnkeyedContainer(forKey: .rows)
            rows = []
            while !list.isAtEnd {
                if try list.decodeNil() { continue }
                var row = try list.nestedUnkeyedContainer()
                var numbers: [Int] = []
                while !row.isAtEnd { numbers.append(try row.decode(Int.self)) }
                guard row.count == numbers.count else { throw CocoaError(.coderInvalidValue) }
                rows.append(numbers)
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encodeNil(forKey: .note)
            var header = container.nestedContainer(keyedBy: HeaderKeys.self, forKey: .header)
            try header.encode(title, forKey: .title)
            try header.encode(columns, forKey: .columns)
            var list = container.nestedUnkeyedContainer(forKey: .rows)
            try list.encodeNil()
            for row in rows {
                var nested = list.nestedUnkeyedContainer()
                for number in row { try nested.encode(number) }
            }
        }
    }

    class Animal: Codable {
        var name: String
        init(name: String) { self.name = name }
    }

    final class Dog: Animal {
        var tricks: [String]

        enum Keys: String, CodingKey { case tricks, parent }

        init(name: String, tricks: [String]) {
            self.tricks = tricks
            super.init(name: name)
        }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            tricks = try container.decode([String].self, forKey: .tricks)
            try super.init(from: try container.superDecoder(forKey: .parent))
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(tricks, forKey: .tricks)
            try super.encode(to: container.superEncoder(forKey: .parent))
        }
    }

    struct Sketch<Content: Codable & Sendable & Equatable>: SyncModel {
        static var collection: String { "notes" }
        var id = UUID()
        var room = UUID()
        var body: Content?
    }

    /// The value after a round trip through SQLite, and the JSON that other clients see.
    private func roundTrip<Content: Codable & Sendable & Equatable>(
        _ content: Content
    ) async throws -> (back: Content?, json: String?) {
        let store = try SyncStore.test()
        let sketch = Sketch(body: content)
        try await store.repository(Sketch<Content>.self).create(sketch)
        let json = try await store.read { try $0.rows("SELECT body FROM notes", []).first }
        guard case .string(let text)? = json?["body"] else { return (nil, nil) }
        return (try await store.repository(Sketch<Content>.self).read(sketch.id)?.body, text)
    }

    @Test func `enums with values come back unchanged`() async throws {
        let shapes: [Shape] = [.dot, .circle(radius: 1.5), .path([1, nil, 3], isClosed: true)]
        let (back, json) = try await roundTrip(shapes)
        #expect(back == shapes)
        #expect(json == #"[{"dot":{}},{"circle":{"radius":1.5}},{"path":{"_0":[1,null,3],"isClosed":true}}]"#)
    }

    @Test func `arrays in arrays, objects in objects and nulls come back unchanged`() async throws {
        let grid = Grid(title: "t", columns: ["a", "b"], rows: [[1, 2], [], [3]])
        let (back, json) = try await roundTrip(grid)
        #expect(back == grid)
        #expect(json == #"{"header":{"columns":["a","b"],"title":"t"},"note":null,"rows":[null,[1,2],[],[3]]}"#)
    }

    @Test func `a subclass keeps the values of its superclass`() throws {
        let value = try FieldEncoder.encode(Dog(name: "Rex", tricks: ["sit"]))
        #expect(value == .object(["parent": .object(["name": "Rex"]), "tricks": .array(["sit"])]))
        let dog = try FieldDecoder.decode(Dog.self, from: value)
        #expect(dog.name == "Rex" && dog.tricks == ["sit"])
    }

    @Test func `a value that does not fit is reported with the expected type`() async throws {
        let store = try SyncStore.test()
        let sketch = Sketch(body: [Shape.dot])
        try await store.repository(Sketch<[Shape]>.self).create(sketch)
        let error = await #expect(throws: StoreError.self) {
            try await store.repository(Sketch<Grid>.self).read(sketch.id)
        }
        #expect(error?.code == .coding)
    }
}
