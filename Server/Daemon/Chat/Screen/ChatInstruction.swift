/// What a line that was typed asks for.
enum ChatInstruction: Hashable, Sendable {
    case send(String)
    case help
    case who
    case older
    case search(String)
    case retry
    case quit
    /// Not understood; with a sentence that says so.
    case wrong(String)

    /// `//` at the beginning sends a text that begins with a slash; `nil` for an empty line.
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
        case "quit", "q", "exit": self = .quit
        case let name: self = .wrong("there is no /\(SafeText.line(String(name))); /help lists what there is")
        }
    }

    /// What there is, a line each.
    static let legend = [
        "/who            who is here, and who has read how far", "/older          more of the past; also Page Up",
        "/search WORDS   messages of this device that contain them", "/retry          send again what was refused",
        "/quit           also Ctrl-C, and Ctrl-D on an empty line",
        "//text          a message that begins with a slash",
        "… waits   ✓ sent   ✓✓ delivered   ✔✔ read   ✗ refused",
    ]
}
