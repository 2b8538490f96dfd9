import Testing

let functionLinesMax = 70

let functionLength = Rule(name: "function length") { file in
    guard file.isSwift else { return [] }
    return FunctionScan(file).spans.compactMap { span in
        let length = span.lastLine - span.firstLine + 1
        guard length > functionLinesMax else { return nil }
        return file.finding(
            span.firstLine,
            "the function has \(length) lines; give its parts names of their own (at most \(functionLinesMax))")
    }
}

/// Finds functions by their braces. A nested function is counted by itself and as part of the outer one.
struct FunctionScan {
    private(set) var spans: [(firstLine: Int, lastLine: Int)] = []
    private let tokens: [(text: Substring, line: Int)]

    /// A declaration that begins before any body did: the function had none, as in a protocol.
    private static let declarations: Set<Substring> = [
        "func", "var", "let", "init", "deinit", "subscript", "case", "static", "mutating", "package", "public",
        "private",
        "associatedtype", "typealias", "struct", "enum", "class", "actor", "extension", "protocol",
    ]

    init(_ file: SourceFile) {
        tokens = file.code.enumerated().flatMap { number, line in Self.tokens(line).map { ($0, number) } }
        for index in tokens.indices where isFunction(at: index) {
            if let last = endOfBody(after: index) {
                spans.append((tokens[index].line, last))
            }
        }
    }

    private static func tokens(_ line: String) -> [Substring] {
        var result: [Substring] = []
        var rest = line[...]
        while let first = rest.first {
            let token = first.isIdentifierPart ? rest.prefix { $0.isIdentifierPart } : rest.prefix(1)
            if first != " " { result.append(token) }
            rest = rest[token.endIndex...]
        }
        return result
    }

    private func isFunction(at index: Int) -> Bool {
        switch tokens[index].text {
        case "func", "deinit": return true
        // `self.init(` is a call.
        case "init": return index == 0 || tokens[index - 1].text != "."
        default: return false
        }
    }

    private func endOfBody(after start: Int) -> Int? {
        var parentheses = 0
        var braces = 0
        for index in tokens.indices.dropFirst(start + 1) {
            switch tokens[index].text {
            case "(", "[": parentheses += 1
            case ")", "]": parentheses -= 1
            case "{" where braces > 0 || parentheses == 0: braces += 1
            case "}" where braces > 0:
                braces -= 1
                if braces == 0 { return tokens[index].line }
            case "}" where parentheses == 0: return nil
            case let text where braces == 0 && parentheses == 0 && Self.declarations.contains(text): return nil
            default: break
            }
        }
        return nil
    }
}

@Suite struct FunctionLengthTests {
    @Test func `no function is longer than 70 lines`() {
        expectNone(functionLength.findings(in: Repository.swiftFiles))
    }

    @Test func `a function of 71 lines is found, one of 70 is not`() {
        func file(_ lines: Int) -> SourceFile {
            let body = String(repeating: "    if a { b() }\n", count: lines - 2)
            return SourceFile(
                path: "Server/A.swift",
                text: """
                    protocol P { func f(_ a: Int) async throws -> Int }
                    func f(_ a: () -> Void = { }) async
                        -> Int {
                    \(body)}
                    init() { self.init(a: "{") }
                    """)
        }
        #expect(functionLength.check(file(70)).map(\.line) == [2])
        #expect(functionLength.check(file(69)).isEmpty)
        #expect(FunctionScan(file(10)).spans.count == 2)
    }
}
