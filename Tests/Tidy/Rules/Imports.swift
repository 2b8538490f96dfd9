import Testing

/// The module of an import declaration; `nil` for any other line.
func importedModule(_ line: String) -> Substring? {
    var words = line.split(separator: " ")[...]
    let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var"]
    let modifiers: Set<Substring> = ["public", "package", "internal", "fileprivate", "private"]
    while let word = words.first, word.hasPrefix("@") || modifiers.contains(word) {
        words.removeFirst()
    }
    guard words.popFirst() == "import" else { return nil }
    if let kind = words.first, kinds.contains(kind) {
        words.removeFirst()
    }
    return words.first?.split(separator: ".").first
}

let outsideImports = Rule(name: "imports from outside") { file in
    guard file.isSwift, file.path.contains("/") else { return [] }
    return file.code.enumerated().compactMap { number, line in
        guard let module = importedModule(line),
            let home = Layout.homes.first(where: { module.hasPrefix($0.modulePrefix) }), !file.lies(in: home.folders)
        else { return nil }
        return file.finding(number, "'\(module)' stays behind \(home.folders.joined(separator: ", ")); go through them")
    }
}

@Suite struct ImportsTests {
    @Test func `libraries from outside are imported only where they live`() {
        expectNone(outsideImports.findings(in: Repository.swiftFiles))
    }

    @Test func `an import is read in each of its forms`() {
        #expect(importedModule("import NIOCore") == "NIOCore")
        #expect(importedModule("@preconcurrency public import struct Foundation.Date") == "Foundation")
        #expect(importedModule("  @testable import Tidemark") == "Tidemark")
        #expect(importedModule("let important = 1") == nil)
    }

    @Test func `a library outside its home is found`() {
        let file = SourceFile(path: "Server/Hub/A.swift", text: "import GRDB\nimport NIOCore\nimport Logging\n")
        #expect(outsideImports.check(file).map(\.line) == [1, 2])
        let pure = SourceFile(path: "Shared/Model/A.swift", text: "public import Foundation\n// import NIOCore\n")
        #expect(outsideImports.check(pure).map(\.line) == [1])
        #expect(outsideImports.check(SourceFile(path: "Server/Store/A.swift", text: "import CPostgres")).count == 1)
        #expect(outsideImports.check(SourceFile(path: "Server/Postgres/A.swift", text: "import CPostgres")).isEmpty)
    }
}
