import Foundation
import Testing
import TidemarkModel

/// The page on schema documents matches the reader.
@Suite struct SchemaPageTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }

    @Test func `the example is a schema that uses every key`() throws {
        let page = try text("Shared/SCHEMA.md")
        let block = try #require(page.components(separatedBy: "```json\n").dropFirst().first)
        let example = try #require(block.components(separatedBy: "\n```").first)
        let schema = try Schema(json: Array(example.utf8))
        #expect(schema.collections.map(\.name) == ["jobs", "shops"])
        for key in try keys() where !["create", "mode"].contains(key) {
            #expect(example.contains("\"\(key)\":"), "\(key)")
        }
    }

    @Test func `every key, type, rule and accessor is on the page`() throws {
        let page = try text("Shared/SCHEMA.md")
        for key in try keys() { #expect(page.contains(try Regex("\n\\| .*`\(key)`.* \\|")), "\(key)") }
        for type in FieldType.allCases { #expect(page.contains("\n| `\(type.rawValue)` |"), "\(type)") }
        for rule in MergeRule.allCases { #expect(page.contains("\n| `\(rule.rawValue)` |"), "\(rule)") }
        for accessor in Accessor.allCases { #expect(page.contains("`\(accessor.rawValue)`"), "\(accessor)") }
    }

    @Test func `every key on the page is one that the reader accepts`() throws {
        let known = Set(try keys() + FieldType.allCases.map(\.rawValue) + MergeRule.allCases.map(\.rawValue))
        for match in try text("Shared/SCHEMA.md").matches(of: /\n\| `([a-z-]+)` \|/) {
            #expect(known.contains(String(match.1)), "\(match.1)")
        }
    }

    /// The keys that the reader looks for.
    private func keys() throws -> [String] {
        let source = try ["Schema/SchemaReader", "Schema/Constraints/FieldConstraint+Reading", "Rules/RuleReader"]
            .map { try text("Shared/Model/\($0).swift") }.joined()
        let pattern =
            /(?:object\.(?:string|strings|names|integer|boolean|choice|accessors|object|take|count)|bound)\("([a-zA-Z]+)"/
        let keys = Set(source.matches(of: pattern).map { String($0.1) })
        #expect(keys.count >= 16)
        return keys.sorted()
    }
}
