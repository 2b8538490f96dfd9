/// The instruction of a typed line.
enum ChatInstruction: Hashable, Sendable {
    case send(String)
    case help
    case who
    case older
    case search(String)
    case retry
    case attach(path: String, words: String)
    case files
    case save(Int, path: String)
    case quit
    /// A line that was not understood, with a sentence that says so.
    case wrong(String)

    /// Parses a line; `//` at the beginning sends a text that begins with a slash. `nil` for an empty line.
    init?(_ line: String) {
        guard line.contains(where: { !$0.isWhitespace }) else { return nil }
        guard line.hasPrefix("/") else {
            self = .send(line)
            return
        }
        guard !line.hasPrefix("//") else {
            self = .send(String(line.dropFirst()))
            return
        }
        let words = line.dropFirst().split(separator: " ", maxSplits: 1)
        let rest = words.dropFirst().first.map(String.init) ?? ""
        switch words.first ?? "" {
        case "help", "?": self = .help
        case "who": self = .who
        case "older": self = .older
        case "search": self = rest.isEmpty ? .wrong("say what to search for: /search WORDS") : .search(rest)
        case "retry": self = .retry
        case "attach":
            let (path, words) = Self.path(rest)
            self = path.isEmpty ? .wrong("say which file: /attach PATH WORDS") : .attach(path: path, words: words)
        case "files": self = .files
        case "save":
            let words = rest.split(separator: " ", maxSplits: 1)
            guard let number = words.first.flatMap({ Int($0) }), let last = words.dropFirst().first else {
                self = .wrong("say which file of /files, and where to: /save NUMBER PATH")
                return
            }
            self = .save(number, path: Self.path(String(last)).path)
        case "quit", "q", "exit": self = .quit
        case let name: self = .wrong("there is no /\(SafeText.line(String(name))); /help lists what there is")
        }
    }

    /// Splits off the path at the beginning, which is in quotes when it contains spaces.
    private static func path(_ text: String) -> (path: String, rest: String) {
        guard text.hasPrefix("\"") else {
            let words = text.split(separator: " ", maxSplits: 1)
            return (words.first.map(String.init) ?? "", words.dropFirst().first.map(String.init) ?? "")
        }
        let parts = text.dropFirst().split(separator: "\"", maxSplits: 1, omittingEmptySubsequences: false)
        let rest = parts.dropFirst().first.map(String.init) ?? ""
        return (parts.first.map(String.init) ?? "", String(rest.drop { $0 == " " }))
    }

    /// The list of instructions, a line each.
    static let legend = [
        "/who            the members, and what each has read", "/older          older messages; also Page Up",
        "/search WORDS   messages on this device that contain them",
        "/retry          send refused and unanswered messages again",
        "/attach PATH WORDS   send a file; \"PATH\" when it has spaces",
        "/files          the files here, by number", "/save N PATH    write file N to the disk",
        "/quit           also Ctrl-C, and Ctrl-D on an empty line",
        "//text          a message that begins with a slash",
        "… waits   ✓ sent   ✓✓ delivered   ✔✔ read   ✗ refused",
    ]
}
