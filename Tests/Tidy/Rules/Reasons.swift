import Testing

/// Code that needs a comment beside it with the reason.
private let phrasesWithReason = [
    ("try?", "an error is dropped; catch it, or say in a comment why that is right"),
    ("@unchecked Sendable", "the compiler is overruled; prove in a comment that it is safe"),
    ("nonisolated(unsafe)", "the compiler is overruled; prove in a comment that it is safe"),
]

let reasons = Rule(name: "reasons") { file in
    guard file.isSwift, file.lies(in: Layout.productFolders) else { return [] }
    return file.code.indices.flatMap { number in
        phrasesWithReason.compactMap { phrase, advice in
            guard file.code[number].holds(phrase), !hasComment(file, near: number) else { return nil }
            return file.finding(number, "'\(phrase)': \(advice)")
        }
    }
}

/// Whether the line has a comment, or a comment is above its statement.
private func hasComment(_ file: SourceFile, near number: Int) -> Bool {
    if file.prose[number] != file.code[number] { return true }
    let above = file.prose[..<number].suffix(2).map(\.trimmed)
    return above.contains { $0.hasPrefix("//") || $0.hasSuffix("*/") }
}

/// Marks of work that is not done. Spelled in two halves, so that this file does not hold them.
private let marksOfUnfinished = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]

let unfinished = Rule(name: "unfinished") { file in
    file.prose.enumerated().flatMap { number, line in
        marksOfUnfinished.filter { line.holds($0) }.map {
            file.finding(number, "'\($0)': finish it, or make it an issue and remove the mark")
        }
    }
}

@Suite struct ReasonsTests {
    @Test func `a dropped error and an overruled compiler have their reason beside them`() {
        expectNone(reasons.findings(in: Repository.swiftFiles))
    }

    @Test func `nothing is marked as unfinished`() {
        expectNone(unfinished.findings(in: Repository.files))
    }

    @Test func `a dropped error without a reason is found`() {
        let file = SourceFile(
            path: "Server/A.swift",
            text: """
                try? close()

                // The peer may be gone already; nothing is left to tell it.
                try? close()
                let a = 1
                try? close()  // gone already
                let b = 1
                final class A: @unchecked Sendable {}
                """)
        #expect(reasons.check(file).map(\.line) == [1, 8])
    }

    @Test func `a mark of unfinished work is found in code, comments and pages`() {
        let mark = marksOfUnfinished[0]
        #expect(unfinished.check(SourceFile(path: "Server/A.swift", text: "// \(mark): later")).count == 1)
        #expect(unfinished.check(SourceFile(path: "README.md", text: "\(mark) write this")).count == 1)
        #expect(unfinished.check(SourceFile(path: "Server/A.swift", text: "let a = \"\(mark)\"")).isEmpty)
    }
}
