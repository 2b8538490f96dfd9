import Foundation
import Testing
import TidemarkModel

@testable import TidemarkOperations

@Suite struct SwiftModelsTests {
    /// The file that the guides' tests compile, and open with its schema.
    private static let printed = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../GuideTests/PrintedModels.swift").standardizedFileURL
    private static let document = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../GuideTests/printed.schema.json").standardizedFileURL

    @Test func `the models printed for a schema are the file that the guides' tests compile`() throws {
        let schema = try Schema(json: Array(try Data(contentsOf: Self.document)))
        let text = try String(contentsOf: Self.printed, encoding: .utf8)
        #expect(schema.swiftModels == text)
    }

    @Test func `types have singular names, and never that of one of Swift's types or of each other`() throws {
        let expected = [
            "boxes": "Box", "branches": "Branch", "classes": "Class", "data": "DataRecord", "dates": "DateRecord",
            "entries": "Entry", "entry": "EntryRecord", "glass": "Glass", "news": "News", "notes": "Note",
            "status": "Status",
            "tasks": "TaskRecord", "appModels": "AppModel", "self": "SelfRecord", "bools": "BoolRecord",
            "syncModels": "SyncModelRecord", "protocols": "ProtocolRecord",
        ]
        let collections = expected.keys.map { #""\#($0)": {"scope": {"shared": "all"}, "fields": {"f": "string"}}"# }
        let text = #"{"tidemark": 1, "collections": {\#(collections.joined(separator: ", "))}}"#
        let printed = try Schema(json: Array(text.utf8)).swiftModels
        let pairs = printed.matches(of: /\nstruct (\w+): SyncModel, Hashable {\n    static let collection = "(\w+)"/)
        #expect(Dictionary(uniqueKeysWithValues: pairs.map { (String($0.2), String($0.1)) }) == expected)
        #expect(printed.contains("enum AppModels {"))
    }
}
