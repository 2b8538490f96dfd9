import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

/// Names of properties on systems where a key path has no description: the same as on systems where it has one.
@Suite struct StoredLayoutTests {
    private struct Wide: SyncModel {
        static let collection = "wide"
        var id = UUID()
        var small: Int8 = 0
        var flag = false
        var text = ""
        let fixed: Double?
        var list: [Data]?
        var part = Part()
        var last: UInt16? = 1
        var sum: Int { Int(small) }
    }

    private struct Part: Codable, Sendable {
        var first = 0
        var second = ""
    }

    private struct Pair<Value: Codable & Sendable>: SyncModel {
        static var collection: String { "pairs" }
        var id = UUID()
        var one: Value
        var other: Value?
        var isLast = false
    }

    private func expectSame<Model: SyncModel>(_ properties: [PartialKeyPath<Model>]) {
        for property in properties {
            let name = PropertyNames.storedName(of: property)
            #expect(name != nil && PropertyNames.laidOutName(of: property) == name, "\(property)")
        }
    }

    @Test func `a stored property has the same name by its offset as by its description`() {
        expectSame([\Wide.id, \.small, \.flag, \.text, \.fixed, \.list, \.part, \.last])
        expectSame([\Pair<Bool>.id, \.one, \.other, \.isLast])
        expectSame([\Pair<String>.id, \.one, \.other, \.isLast])
        expectSame([\Note.id, \.room, \.text, \.likes, \.best, \.tags, \.done, \.due, \.meta, \.body, \.file])
    }

    @Test func `a computed property has no name, and neither has a part of another property`() {
        #expect(PropertyNames.laidOutName(of: \Wide.sum) == nil && PropertyNames.storedName(of: \Wide.sum) == nil)
        #expect(PropertyNames.laidOutName(of: \Wide.part.second) == nil)
        #expect(PropertyNames.laidOutName(of: \Wide.text.count) == nil)
        // It begins at the offset of the whole property. Newer systems refuse it.
        #expect(PropertyNames.laidOutName(of: \Wide.part.first) == "part")
        #expect(PropertyNames.storedName(of: \Wide.part.first) == nil)
    }

    @Test func `only a structure has a layout`() {
        final class Object {}
        #expect(StoredLayout(Object.self) == nil && StoredLayout(Optional<Int>.self) == nil)
        #expect(StoredLayout((Int, Int).self) == nil && StoredLayout((any Error).self) == nil)
        #expect(StoredLayout(Wide.self)?.name(at: 1) == nil)
    }
}
