import Testing

/// Every declaration that another target sees says above it what it means.
///
/// Exempt: initialisers and cases (their type speaks for them), extensions, and what a protocol already documents,
/// which is found by its name: `witnesses` holds the names of all requirements.
func documentation(witnesses: Set<String>) -> Rule {
    Rule(name: "documentation") { file in
        guard file.isSwift, file.lies(in: Layout.productFolders) else { return [] }
        return DeclarationScan(file).declarations.compactMap { declaration in
            guard declaration.isShared, !isDocumented(file, declaration.line) else { return nil }
            let mayBeWitness = declaration.scope == .conformingExtension
                || declaration.scope == .conformingType && witnesses.contains(declaration.name)
            guard !mayBeWitness else { return nil }
            return file.finding(
                declaration.line, "'\(declaration.name)' is API without a doc comment; say what it means, units, errors, misuse")
        }
    }
}

private func isDocumented(_ file: SourceFile, _ line: Int) -> Bool {
    let above = file.lines[..<line].reversed().map(\.trimmed)
    let comment = above.first { !$0.hasPrefix("@") && !$0.hasPrefix("#if") && !$0.hasPrefix("#else") }
    return comment.map { $0.hasPrefix("///") || $0.hasSuffix("*/") } ?? false
}

/// Requirements of the protocols that types here conform to but that are declared elsewhere.
private let foreignRequirements: Set<String> = [
    "==", "<", "hash", "encode", "description", "debugDescription", "errorDescription", "id", "rawValue", "allCases",
    "next", "makeAsyncIterator", "makeIterator", "run", "startIndex", "endIndex", "index", "count", "now", "sleep",
    "minimumResolution", "stringValue", "intValue", "handle", "AsyncIterator", "Iterator", "Element", "RawValue",
    "configuration", "body",
]

/// The names of every protocol requirement in these files, and of the foreign ones.
func requirementNames(_ files: [SourceFile]) -> Set<String> {
    files.reduce(into: foreignRequirements) { names, file in
        for declaration in DeclarationScan(file).declarations where declaration.scope == .protocol {
            names.insert(declaration.name)
        }
    }
}

@Suite struct DocumentationTests {
    @Test func `every declaration that another target sees is documented`() {
        let rule = documentation(witnesses: requirementNames(Repository.productFiles))
        expectNone(rule.findings(in: Repository.productFiles))
    }

    @Test func `an undocumented declaration is found, a witness is not asked`() {
        let file = SourceFile(
            path: "Shared/Model/A.swift",
            text: """
                package struct Bare {
                    package init(a: Int) {}
                    /// Documented.
                    @inlinable
                    package func good() {}
                    package static func bad() {}

                    package private(set) var worse = 1
                    func inner() {}
                }
                /// Documented.
                package struct Full<T: Sendable>: Drinkable {
                    package func drink() {}
                    package func spill() {}
                    nonisolated package let x = 1, y = 2
                }
                extension Bare: Drinkable { package var taste: Int { 1 } }
                extension Bare { package var colour: Int { 1 } }
                public import Other
                /// Documented.
                package protocol Drinkable {
                    func drink()
                }
                """)
        let witnesses = requirementNames([file])
        #expect(witnesses.contains("drink"))
        #expect(documentation(witnesses: witnesses).check(file).map(\.line) == [1, 6, 8, 14, 15, 18])
    }
}
