/// Finds the declarations of a file and the kind of scope that contains each, by words and braces.
struct DeclarationScan {
    enum Scope { case file, `protocol`, conformingType, conformingExtension, plain }

    struct Declaration {
        let name: String
        let line: Int
        let keyword: String
        /// `package`, `public` or `open` when other targets see it.
        let access: String?
        let isStatic: Bool
        /// `false` for a requirement, and for a property that is stored.
        let hasBody: Bool
        let scope: Scope
    }

    private(set) var declarations: [Declaration] = []

    private static let keywords: Set<Substring> = [
        "struct", "class", "enum", "actor", "protocol", "typealias", "func", "var", "let", "subscript", "extension",
    ]
    private static let sharing: Set<Substring> = ["package", "public", "open"]
    private static let modifiers: Set<Substring> = [
        "static", "final", "nonisolated", "mutating", "override", "lazy", "weak", "indirect", "consuming", "borrowing",
        "unowned", "isolated", "private", "internal", "fileprivate", "prefix", "postfix", "infix",
    ]

    init(_ file: SourceFile) {
        var scopes: [Scope] = []
        var keyword: Substring?
        var header = ""
        for (number, line) in file.code.enumerated() {
            for part in Self.parts(line) {
                switch part {
                case "{":
                    scopes.append(Self.scope(of: keyword, header: header))
                    (keyword, header) = (nil, "")
                case "}":
                    _ = scopes.popLast()
                    (keyword, header) = (nil, "")
                default:
                    if let found = Self.declaration(part) {
                        (keyword, header) = (found.keyword, "")
                        let scope = scopes.last ?? .file
                        if found.keyword != "extension" {
                            declarations.append(
                                Declaration(
                                    name: found.name, line: number, keyword: String(found.keyword),
                                    access: found.access,
                                    isStatic: part.holds("static"), hasBody: line.contains("{"), scope: scope))
                        }
                    }
                    header += part + " "
                }
            }
        }
    }

    /// The text of a line cut at its braces, which are parts of their own.
    private static func parts(_ line: String) -> [String] {
        var parts: [String] = []
        var current = ""
        for character in line {
            if character == "{" || character == "}" {
                parts += [current, String(character)]
                current = ""
            } else {
                current.append(character)
            }
        }
        return (parts + [current]).filter { !$0.trimmed.isEmpty }
    }

    private static func declaration(_ text: String) -> (keyword: Substring, name: String, access: String?)? {
        var access: String?
        var words = withoutAttributes(text).split(separator: " ")[...]
        while let word = words.popFirst() {
            // `private(set)` is a modifier, `subscript(` a keyword.
            let bare = word.prefix { $0 != "(" && $0 != "<" }
            if sharing.contains(word) {
                access = String(word)
            } else if bare == "subscript" {
                return (bare, "subscript", access)
            } else if keywords.contains(bare), !(bare == "class" && words.first.map(keywords.contains) == true) {
                return (bare, name(words.first ?? ""), access)
            } else if bare != "class", !modifiers.contains(bare), !sharing.contains(bare) {
                return nil
            }
        }
        return nil
    }

    /// The identifier (bare or between backquotes) or operator at the beginning of a word.
    private static func name(_ word: Substring) -> String {
        let isOperator = word.first.map { !$0.isIdentifierPart && $0 != "`" } ?? false
        return String(word.prefix { isOperator ? $0 != "(" : $0.isIdentifierPart || $0 == "`" })
    }

    /// The text without the attributes at its front and their arguments.
    private static func withoutAttributes(_ text: String) -> String {
        var rest = text.trimmed[...]
        while rest.first == "@" {
            rest = rest.dropFirst().drop { $0.isIdentifierPart }
            if rest.first == "(" {
                rest = rest.firstIndex(of: ")").map { rest[rest.index(after: $0)...] } ?? ""
            }
            rest = rest.drop { $0 == " " }
        }
        return String(rest)
    }

    private static func scope(of keyword: Substring?, header: String) -> Scope {
        switch keyword {
        case "protocol": .protocol
        case "extension": conforms(header) ? .conformingExtension : .plain
        case "struct", "class", "enum", "actor": conforms(header) ? .conformingType : .plain
        default: .plain
        }
    }

    /// Whether the header has a colon outside angle brackets and before any `where`.
    private static func conforms(_ header: String) -> Bool {
        let declared = header.firstRange(of: " where ").map { header[..<$0.lowerBound] } ?? header[...]
        var depth = 0
        for character in declared {
            switch character {
            case "<": depth += 1
            case ">": depth -= 1
            case ":" where depth == 0: return true
            default: break
            }
        }
        return false
    }
}
