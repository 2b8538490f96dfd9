import Testing

/// Every public call, property and type of the SDK and of the extensions' library is in a guide: in a block of
/// code, or as code in the text.
@Suite struct GuideCoverageTests {
    /// Names that no app writes, each with its caller.
    private static let exceptions = [
        "makeAsyncIterator": "`for await` calls it",
        "encode": "an encoder calls it",
        "request": "BackgroundRefresh calls it on a scheduler",
        "cancel": "BackgroundRefresh calls it on a scheduler",
        "objectWillChange": "a view that holds the object listens to it",
        "projectedValue": "a `$` stands for it",
        "ID": "what Identifiable asks for",
    ]

    private static let guides = Repository.files.filter { $0.folder == "ClientSDK/SDK/Tidemark.docc" }

    private static let kinds: Set<String> = [
        "func", "var", "let", "struct", "class", "enum", "actor", "protocol", "typealias",
    ]

    private static var names: [(name: String, path: String, kind: String)] {
        Repository.swiftFiles.filter { file in
            ["ClientSDK/SDK/", "ClientSDK/Extension/"].contains { file.path.hasPrefix($0) }
        }.flatMap { file in
            DeclarationScan(file).declarations
                .filter { kinds.contains($0.keyword) && $0.access == "public" && $0.name.first?.isLetter == true }
                .filter { !file.isDeprecated($0.line) }
                .map { ($0.name, file.path, $0.keyword) }
        }
    }

    /// The words of all code on a page.
    private static func words(_ page: SourceFile) -> Set<Substring> {
        var isFenced = false
        var words: Set<Substring> = []
        for line in page.lines {
            if line.trimmed.hasPrefix("```") {
                isFenced.toggle()
                continue
            }
            // Links to symbols have two backquotes on each side.
            let text = line.replacing("``", with: "`")
            let code = isFenced ? [text[...]] : text.split(separator: "`", omittingEmptySubsequences: false).odd
            for part in code { words.formUnion(part.split { !$0.isLetter && !$0.isNumber && $0 != "_" }) }
        }
        return words
    }

    @Test func `every public call, property and type is shown in a guide`() {
        let shown = Self.guides.reduce(into: Set<Substring>()) { $0.formUnion(Self.words($1)) }
        let names = Self.names
        #expect(Self.guides.count > 15 && Set(names.map(\.name)).count > 400)
        for name in names where !shown.contains(name.name[...]) && Self.exceptions[name.name] == nil {
            Issue.record("\(name.path): \(name.kind) '\(name.name)' stands in no guide")
        }
        for exception in Self.exceptions.keys {
            #expect(
                names.contains { $0.name == exception } && !shown.contains(exception[...]),
                "'\(exception)' is no exception any more")
        }
    }

    @Test func `a word outside of code shows no call`() {
        let page = SourceFile(
            path: "A.md",
            text: "Call it and `store.read(id)` then ``Outbox/parked()``\n```swift\ntry await open()\n```\nend")
        #expect(Self.words(page) == ["store", "read", "id", "Outbox", "parked", "try", "await", "open"])
    }
}

extension Array {
    /// Every second element: the parts between two separators, where no empty part was left out.
    fileprivate var odd: [Element] { enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element) }
}
