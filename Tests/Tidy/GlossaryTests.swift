import Testing

/// One row of the page of words.
private struct Word {
    let name: String
    let meaning: String
    let path: String

    /// `nil` for a line that is not a row.
    init?(_ line: String) {
        let cells = line.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmed }
        guard cells.count == 6, !cells[1].isEmpty, cells[1] != "word", !cells[1].hasPrefix("-") else { return nil }
        (name, meaning) = (String(cells[1]), String(cells[2]))
        path = cells[4].filter { $0 != "`" }
    }
}

/// The mistakes of the page.
private func mistakes(_ page: SourceFile, exists: (String) -> Bool) -> [String] {
    let words = page.lines.compactMap { Word($0) }
    let names = words.flatMap { $0.name.split(separator: ",").map { String($0.trimmed) } }
    let repeated = Dictionary(grouping: names, by: \.self).filter { $0.value.count > 1 }
    return words.filter(\.meaning.isEmpty).map { "'\($0.name)' means nothing" }
        + words.filter { !exists($0.path) }.map { "'\($0.name)': there is no \($0.path)" }
        + repeated.keys.sorted().map { "'\($0)' has two meanings" }
}

@Suite struct GlossaryTests {
    private static let path = "Shared/GLOSSARY.md"

    @Test func `each word of ours has one meaning and lives where the page says`() throws {
        let page = try #require(Repository.files.first { $0.path == Self.path })
        #expect(page.lines.compactMap { Word($0) }.count > 30)
        for mistake in mistakes(page, exists: Repository.exists) { Issue.record(Comment(rawValue: mistake)) }
    }

    @Test func `a word without a meaning, with two, and one that lives nowhere are found`() {
        let page = SourceFile(
            path: Self.path,
            text: """
                | word | means | not | lives in |
                |---|---|---|---|
                | lane, hub | one | | `A.swift` |
                | hub |  | | `A.swift` |
                | tail | three | | `B.swift` |
                """)
        #expect(
            mistakes(page) { $0 == "A.swift" } == [
                "'hub' means nothing", "'tail': there is no B.swift", "'hub' has two meanings",
            ])
    }
}
