import Testing

/// Every declaration that another target sees has a doc comment.
///
/// Exempt: initialisers and cases (their type documents them), extensions, implementations of documented requirements
/// (`witnesses` holds the names of all requirements), deprecated names, and a plain stored property of package access or of a model,
/// where a comment could only repeat its name and type. A bound in a type of limits has no such excuse.
func documentation(witnesses: Set<String>) -> Rule {
    Rule(name: "documentation") { file in
        guard file.isSwift, file.lies(in: Layout.productFolders) else { return [] }
        return DeclarationScan(file).declarations.compactMap { declaration in
            guard declaration.access != nil, !isDocumented(file, declaration.line),
                !file.isDeprecated(declaration.line),
                !isWitness(declaration, witnesses), !isPlainProperty(declaration, file)
            else { return nil }
            return file.finding(
                declaration.line,
                "'\(declaration.name)' is API without a doc comment; say what it means, units, errors, misuse")
        }
    }
}

private func isWitness(_ declaration: DeclarationScan.Declaration, _ witnesses: Set<String>) -> Bool {
    switch declaration.scope {
    case .conformingExtension: true
    case .conformingType: witnesses.contains(declaration.name)
    case .plain: standardRequirements.contains(declaration.name)
    case .file, .protocol: false
    }
}

private func isPlainProperty(_ declaration: DeclarationScan.Declaration, _ file: SourceFile) -> Bool {
    let isStored = ["let", "var"].contains(declaration.keyword) && !declaration.hasBody && !declaration.isStatic
    let isPlain = isStored && declaration.scope != .file && !file.path.contains("Limits")
    let isModel = file.lies(in: ["Shared/"]) || file.path.contains("/Models/")
    return isPlain && (declaration.access == "package" || isModel)
}

private func isDocumented(_ file: SourceFile, _ line: Int) -> Bool {
    let above = file.lines[..<line].reversed().lazy.map(\.trimmed)
    let comment = above.first { !$0.hasPrefix("@") && !$0.hasPrefix("#if") && !$0.hasPrefix("#else") }
    return comment.map { $0.hasPrefix("///") || $0.hasSuffix("*/") } ?? false
}

/// Requirements of the standard library's protocols, known by name in every scope, such as an extension of a
/// protocol.
private let standardRequirements: Set<String> = [
    "==", "<", "hash", "encode", "description", "debugDescription", "rawValue", "allCases",
]

/// Requirements of other libraries' protocols that types here conform to.
private let foreignRequirements: Set<String> = [
    "errorDescription", "id", "next", "makeAsyncIterator", "makeIterator", "run", "startIndex", "endIndex", "index",
    "count", "now", "sleep", "minimumResolution", "advanced", "duration", "stringValue", "intValue", "handle",
    "AsyncIterator", "Iterator",
    "Element", "RawValue", "configuration", "body",
    "makeCounter", "makeMeter", "makeRecorder", "makeTimer", "destroyCounter", "destroyMeter", "destroyRecorder",
    "destroyTimer",
]

/// The names of every protocol requirement in these files, and of the foreign ones.
func requirementNames(_ files: [SourceFile]) -> Set<String> {
    files.reduce(into: standardRequirements.union(foreignRequirements)) { names, file in
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

    @Test func `an undocumented declaration is found, and a protocol's witness needs no comment`() {
        let file = SourceFile(
            path: "Server/Store/A.swift",
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
                    nonisolated package static let x = 1
                    package let plain: Int
                    package var computed: Int { 1 }
                    public let shown: Int
                }
                extension Bare: Drinkable { package var taste: Int { 1 } }
                extension Bare { package var colour: Int { 1 } }
                extension Bare { package var description: String { "" } }
                public import Other
                /// Documented.
                package protocol Drinkable {
                    func drink()
                }
                @available(*, deprecated, renamed: "Full")
                package typealias Former = Full
                """)
        let witnesses = requirementNames([file])
        #expect(witnesses.contains("drink"))
        #expect(documentation(witnesses: witnesses).check(file).map(\.line) == [1, 6, 14, 15, 17, 18, 21])
        let limits = SourceFile(path: "Server/PushLimits.swift", text: "struct A {\npackage var framesMax = 1\n}")
        #expect(documentation(witnesses: []).check(limits).map(\.line) == [2])
    }
}
