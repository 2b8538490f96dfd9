import Foundation
import Testing
import Tidemark

/// Every Swift block of a guide is, line by line and in its order, in the file that is named after the guide or that it
/// shares.
@Suite struct GuideTests {
    static let here = URL(filePath: #filePath).deletingLastPathComponent()
    static let catalogue = here.appending(path: "../../ClientSDK/SDK/Tidemark.docc").standardizedFileURL

    static let guides = [
        "Start", "Adding", "Writing", "Finding", "Filters", "Observing", "Conflicts", "Migrations", "Testing",
        "Background",
        "Files", "Accounts", "Extensions",
        "Leaving", "Ephemerals", "Support", "Moving", "Types", "Batches", "Rejected",
    ]
    /// Pages whose code is in another page's file.
    static let sharing = ["Types": "Adding", "Batches": "Writing", "Rejected": "Writing"]
    /// Guides whose code `deploy/lib/apple.sh` compiles, since it needs modules that only Apple's platforms have.
    static let appleGuides = ["SwiftUI", "Apple"]
    static let appleFolder = here.appending(path: "../../ClientSDK/Examples/Apple/Guides").standardizedFileURL

    @Test(arguments: guides + appleGuides)
    func `a guide's code is in the file that compiles here`(_ guide: String) throws {
        let page = try String(contentsOf: Self.catalogue.appending(path: "\(guide).md"), encoding: .utf8)
        let folder = Self.appleGuides.contains(guide) ? Self.appleFolder : Self.here
        let file = "\(Self.sharing[guide] ?? guide)Guide.swift"
        let source = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
        var compiled = source.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }[...]
        let blocks = Self.blocks(of: page)
        #expect(!blocks.isEmpty)
        for line in blocks.joined() {
            let place = compiled.firstIndex(of: line)
            #expect(place != nil, "\(guide): not compiled, or not in this order: \(line)")
            if let place { compiled = compiled[(place + 1)...] }
        }
    }

    @Test func `the dependencies of the guide are products of the package`() throws {
        let page = try String(contentsOf: Self.catalogue.appending(path: "Adding.md"), encoding: .utf8)
        let manifest = try String(
            contentsOf: Self.here.appending(path: "../../Package.swift").standardizedFileURL, encoding: .utf8)
        let named = page.matches(of: /\.product\(name: "(\w+)", package: "(\w+)"\)/)
        #expect(named.count == 5)
        for product in named {
            #expect(manifest.contains(".library(name: \"\(product.1)\""), "\(product.1)")
            #expect(manifest.contains("name: \"\(product.2)\""), "\(product.2)")
        }
    }

    @Test func `every fault of the kit is named, and no other`() throws {
        let page = try String(contentsOf: Self.catalogue.appending(path: "Testing.md"), encoding: .utf8)
        var declared: Set<String> = []
        for file in ["Faults.swift", "ServerBackup.swift"] {
            let path = Self.here.appending(path: "../../ClientSDK/TestKit/\(file)").standardizedFileURL
            let source = try String(contentsOf: path, encoding: .utf8)
            for name in source.matches(of: /\n {4}public func (\w+)\(/) { declared.insert(String(name.1)) }
        }
        declared.remove("backup")
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") && !$0.contains("kit.faults.") }
        let named = rows.flatMap { row in
            row.split(separator: "|")[0].matches(of: /`(\w+)\(/).map { String($0.1) }
        }
        #expect(Set(named) == declared)
    }

    @Test func `a two-device chat takes at most twenty lines`() throws {
        let page = try String(contentsOf: Self.catalogue.appending(path: "Start.md"), encoding: .utf8)
        let first = try #require(Self.blocks(of: page).first)
        #expect((5...20).contains(first.count))
    }

    @Test func `the schema at the beginning of the guide is valid, and fits the models beside it`() throws {
        let page = try String(contentsOf: Self.catalogue.appending(path: "Start.md"), encoding: .utf8)
        let text = page.components(separatedBy: "```json\n").last?.components(separatedBy: "\n```").first ?? ""
        let store = try SyncStore.inMemory(account: UserID("ann"), schema: try Schema(json: Array(text.utf8)))
        try store.check(TaskList.self)
        try store.check(Todo.self)
    }

    @Test func `every page of the catalogue is linked from its first page, and every guide is checked`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.catalogue.path).filter {
            $0.hasSuffix(".md")
        }
        let front = try String(contentsOf: Self.catalogue.appending(path: "Tidemark.md"), encoding: .utf8)
        for name in names where name != "Tidemark.md" {
            #expect(front.contains("<doc:\(name.dropLast(3))>"), "\(name)")
            let page = try String(contentsOf: Self.catalogue.appending(path: name), encoding: .utf8)
            let isChecked = (Self.guides + Self.appleGuides).contains(String(name.dropLast(3)))
            #expect(Self.blocks(of: page).isEmpty || isChecked, "\(name)")
        }
    }

    private static func blocks(of page: String) -> [[String]] {
        page.components(separatedBy: "```swift\n").dropFirst().map { block in
            (block.components(separatedBy: "\n```").first ?? "").split(separator: "\n")
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }
}
