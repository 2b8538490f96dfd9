import Testing

/// One row of the page of rules and invariants.
private struct NumberedRule {
    /// A number such as `R-05`.
    let number: String
    let text: String
    let suites: [String]

    /// `nil` for a line that is not a row.
    init?(_ line: String) {
        let cells = line.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmed }
        guard cells.count == 5, numbers(in: cells[1]) == [String(cells[1])] else { return nil }
        number = String(cells[1])
        text = String(cells[2])
        suites = cells[3].split(separator: ",").map { String($0.trimmed) }
    }
}

/// The rules and invariants that a line names: `R-` or `I-` and two or three digits, with nothing before them.
private func numbers(in line: some StringProtocol) -> [String] {
    guard line.has("R-") || line.has("I-") else { return [] }
    let characters = Array(line)
    return characters.indices.dropLast(3).compactMap { start in
        let digits = characters[(start + 2)...].prefix { $0.isNumber }
        let end = digits.endIndex
        guard characters[start] == "R" || characters[start] == "I", characters[start + 1] == "-",
            (2...3).contains(digits.count), start == 0 || !characters[start - 1].isIdentifierPart,
            end == characters.count || !characters[end].isIdentifierPart
        else { return nil }
        return String(characters[start..<end])
    }
}

/// The mistakes of the page, given all files.
private func mistakes(_ page: SourceFile, in files: [SourceFile]) -> [String] {
    let rules = page.lines.compactMap { NumberedRule($0) }
    let known = Set(rules.map(\.number))
    var mistakes: [String] = []
    var named: Set<String> = []
    for file in files where file.path != page.path && !file.path.hasPrefix("Tests/Tidy/") {
        for (index, line) in file.lines.enumerated() {
            for number in numbers(in: line) {
                named.insert(number)
                if !known.contains(number) { mistakes.append("\(file.path):\(index + 1): \(number) is not defined") }
            }
        }
    }
    for rule in rules {
        if !named.contains(rule.number) { mistakes.append("\(rule.number) is named nowhere") }
        if rule.text.isEmpty { mistakes.append("\(rule.number) says nothing") }
        if rule.suites.isEmpty { mistakes.append("\(rule.number) names no suite") }
        for suite in rule.suites
        where !files.contains(where: { $0.path.hasPrefix("Tests/") && $0.path.hasSuffix("/\(suite).swift") }) {
            mistakes.append("\(rule.number): there is no suite '\(suite)'")
        }
    }
    let repeated = Dictionary(grouping: rules, by: \.number).filter { $0.value.count > 1 }
    return mistakes + repeated.keys.sorted().map { "\($0) stands twice" }
}

@Suite struct RuleTableTests {
    private static let path = "Shared/RULES.md"

    @Test func `every rule and invariant that is named is defined, once, with suites that exist`() throws {
        let page = try #require(Repository.files.first { $0.path == Self.path })
        #expect(page.lines.compactMap { NumberedRule($0) }.count > 60)
        for mistake in mistakes(page, in: Repository.files) { Issue.record(Comment(rawValue: mistake)) }
    }

    @Test func `a number without a row, a row without a number, a wrong suite and a repetition are found`() {
        let page = SourceFile(
            path: Self.path,
            text: """
                | rule | says | shown by |
                |---|---|---|
                | R-01 | one | ATests |
                | R-02 | two | ATests, NoTests |
                | R-02 |  | |
                | I-03 | three | ATests |
                | R-111 | four | ATests |
                """)
        let files = [
            page, SourceFile(path: "Tests/A/ATests.swift", text: "// R-01 (R-02)"),
            SourceFile(
                path: "Server/A.swift", text: "/// See R-04 and SKUR-05, R-1234, R-110, OVER-01.\nlet a = 1  // I-03\n"),
        ]
        #expect(
            mistakes(page, in: files) == [
                "Server/A.swift:1: R-04 is not defined", "Server/A.swift:1: R-110 is not defined",
                "R-02: there is no suite 'NoTests'", "R-02 says nothing",
                "R-02 names no suite", "R-111 is named nowhere", "R-02 stands twice",
            ])
    }
}
