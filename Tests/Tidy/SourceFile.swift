/// A text file of the repository, in the three views that the rules read. All views have the same lines.
struct SourceFile: Sendable {
    /// The path from the top of the repository, with forward slashes.
    let path: String
    let isExecutable: Bool
    /// The lines as they are in the file.
    let lines: [String]
    /// The lines without the contents of comments and string literals: the code that the compiler acts on.
    let code: [String]
    /// The lines without the contents of string literals, comments kept.
    let prose: [String]

    init(path: String, isExecutable: Bool = false, text: String) {
        self.path = path
        self.isExecutable = isExecutable
        lines = Self.split(text)
        if path.hasSuffix(".swift") {
            var scanner = CodeScanner(text)
            scanner.run()
            code = Self.split(scanner.code)
            prose = Self.split(scanner.prose)
        } else {
            code = lines
            prose = lines
        }
    }

    var isSwift: Bool { path.hasSuffix(".swift") }
    /// Tells whether the declaration on a line (from 0) is a former name, kept for one version.
    func isDeprecated(_ line: Int) -> Bool {
        let attributes = lines[..<line].reversed().prefix { $0.trimmed.hasPrefix("@") }
        return ([lines[line]] + attributes).contains { $0.contains("@available(*, deprecated") }
    }

    var isScript: Bool { path.hasSuffix(".sh") || lines.first?.hasPrefix("#!") == true }
    var isMarkdown: Bool { path.hasSuffix(".md") }

    /// The path of the folder that holds the file; empty at the top.
    var folder: String {
        path.split(separator: "/").dropLast().joined(separator: "/")
    }

    /// Whether the path begins with one of these prefixes. End a prefix with `/` to mean a folder.
    func lies(in prefixes: [String]) -> Bool {
        prefixes.contains { path.hasPrefix($0) }
    }

    /// A finding in a line, which is counted from 0 as in `lines`.
    func finding(_ line: Int, _ advice: String) -> Finding {
        Finding(path: path, line: line + 1, advice: advice)
    }

    /// Splits like an editor: a final newline does not begin another line.
    private static func split(_ text: String) -> [String] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last?.isEmpty == true {
            lines.removeLast()
        }
        return lines
    }
}
