import Foundation
import Testing

/// One row of the page of requirements.
private struct Requirement {
    let id: String
    /// The suite and the sentence of each test that shows it.
    let tests: [(suite: String, sentence: String)]
    let isNotYet: Bool

    /// `nil` for a line that is not a row.
    init?(_ line: String) {
        let cells = line.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmed }
        guard cells.count == 5, let first = cells[1].first, first.isUppercase, cells[1].last?.isNumber == true else {
            return nil
        }
        id = String(cells[1])
        isNotYet = cells[3].contains("not yet")
        // A sentence is between backquotes, after its suite and a colon.
        let parts = cells[3].split(separator: "`", omittingEmptySubsequences: false).map(String.init)
        tests = stride(from: 1, to: parts.count, by: 2).map { place in
            let suite = parts[place - 1].trimmed.dropLast().split { !$0.isIdentifierPart }.last ?? ""
            return (String(suite), parts[place])
        }
    }
}

private func requirements(_ page: SourceFile) -> [Requirement] { page.lines.compactMap { Requirement($0) } }

/// The mistakes of a page, given the files of tests.
private func mistakes(_ page: SourceFile, _ tests: [SourceFile], expecting ids: [String]) -> [String] {
    let rows = requirements(page)
    var mistakes = Set(ids).subtracting(rows.map(\.id)).sorted().map { "\($0) is missing" }
    for row in rows {
        if row.tests.isEmpty, !row.isNotYet { mistakes.append("\(row.id) names no test and does not say 'not yet'") }
        for (suite, sentence) in row.tests {
            let isThere = tests.contains { file in
                file.path.hasSuffix("/\(suite).swift") && file.lines.contains { $0.contains("func `\(sentence)`(") }
            }
            if !isThere { mistakes.append("\(row.id): there is no '\(sentence)' in \(suite)") }
        }
    }
    let repeated = Dictionary(grouping: rows, by: \.id).filter { $0.value.count > 1 }
    return mistakes + repeated.keys.sorted().map { "\($0) stands twice" }
}

@Suite struct RequirementTableTests {
    private static let path = "Tests/Requirements.md"
    private static let counts = [("S0", 16), ("S1", 11), ("S2", 7), ("S3", 9), ("S4", 7)]
    private static let others = (1...5).map { "C\($0)" } + (1...20).map { "L\($0)" }

    @Test func `every requirement names tests that exist, or says that it is not shown`() throws {
        let page = try #require(Repository.files.first { $0.path == Self.path })
        let ids = Self.counts.flatMap { source, count in (1...count).map { "\(source).\($0)" } }
        let tests = Repository.swiftFiles.filter { $0.lies(in: ["Tests/"]) }
        for mistake in mistakes(page, tests, expecting: ids + Self.others) {
            Issue.record(Comment(rawValue: mistake))
        }
    }

    @Test func `a missing id, an unknown sentence, a wrong suite and an empty row are found`() {
        let tests = [SourceFile(path: "Tests/A/RoundTests.swift", text: "@Test func `it is so`() {}")]
        let page = SourceFile(
            path: "a.md",
            text: """
                | id | requirement | shown by |
                |---|---|---|
                | S0.1 | a | RoundTests: `it is so` |
                | S0.2 | b | RoundTests: `it is not so`; not yet: c |
                | S0.3 | c | OtherTests: `it is so` |
                | S0.4 | d | some day |
                | S0.5 | e | not yet |
                | S0.5 | e | not yet |
                """)
        #expect(
            mistakes(page, tests, expecting: ["S0.1", "S0.9"]) == [
                "S0.9 is missing", "S0.2: there is no 'it is not so' in RoundTests",
                "S0.3: there is no 'it is so' in OtherTests", "S0.4 names no test and does not say 'not yet'",
                "S0.5 stands twice",
            ])
    }
}
