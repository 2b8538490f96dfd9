import Testing

/// Words that say nothing as a part of the name of a type, a file or a folder.
private let emptyWords: Set<String> = [
    "manager", "helper", "util", "utility", "utilities", "common", "misc", "base", "impl", "processor", "wrapper",
    "data",
    "info", "item", "new", "old", "v2",
]

private let typeKeywords: Set<Substring> = [
    "struct", "class", "enum", "actor", "protocol", "typealias", "associatedtype",
]

private func emptyWord(in name: some StringProtocol) -> String? {
    camelCaseWords(name).first { word in
        let lowered = word.lowercased()
        return emptyWords.contains(lowered) || lowered.hasSuffix("s") && emptyWords.contains(String(lowered.dropLast()))
    }
}

let pathNames = Rule(name: "names of files") { file in
    file.path.split(separator: "/").compactMap { part in
        emptyWord(in: part).map { file.finding(0, "'\($0)' in the path says nothing; name the idea (glossary)") }
    }
}

let typeNames = Rule(name: "names of types") { file in
    // Apple chose the names in stubs.
    guard file.isSwift, file.folder != "Tests/AppleStubs" else { return [] }
    return file.code.enumerated().flatMap { number, line -> [Finding] in
        let words = line.split { !$0.isIdentifierPart }
        return zip(words, words.dropFirst()).compactMap { keyword, name in
            guard typeKeywords.contains(keyword), let word = emptyWord(in: name) else { return nil }
            return file.finding(number, "'\(word)' in the name of '\(name)' says nothing; name the idea (glossary)")
        }
    }
}

@Suite struct NamesTests {
    @Test func `no file or folder has a name that says nothing`() {
        expectNone(pathNames.findings(in: Repository.files))
    }

    @Test func `no type has a name that says nothing`() {
        expectNone(typeNames.findings(in: Repository.swiftFiles))
    }

    @Test func `an empty word is found at any position in a name, and only as a whole word`() {
        #expect(pathNames.check(SourceFile(path: "Server/Store/StoreUtils.swift", text: "")).count == 1)
        #expect(pathNames.check(SourceFile(path: "Server/common/Rows.swift", text: "")).count == 1)
        #expect(pathNames.check(SourceFile(path: "Server/Store/Database+Metadata.swift", text: "")).isEmpty)
        let types = SourceFile(
            path: "Server/A.swift",
            text: """
                final class SyncManager {}
                enum Information { case item }
                struct HTTPDataFrame {} // struct Helper
                typealias EngineV2 = Engine
                struct Database { let old = "struct Base" }
                """)
        #expect(typeNames.check(types).map(\.line) == [1, 3, 4])
    }
}
