/// Commands of a shell's text, as far as the documents need it: quotes, variables, comments, pipes, lists,
/// redirections, `$(…)` and `bash -c '…'`. Pure.
struct ShellWords {
    /// The words of each command, without assignments before it and without redirections.
    private(set) var commands: [[String]] = []

    private let text: [Character]
    private var index = 0
    private var words: [String] = []
    private var word: String?
    /// True when the next word is the target of a redirection.
    private var redirects = false

    init(_ text: String) {
        self.text = Array(text.replacing("\\\n", with: " "))
        while index < self.text.count { step() }
        endCommand()
        for command in commands {
            // The script of another shell, and the command of a wrapper.
            if let script = command.firstIndex(of: "-c"), script + 1 < command.count, command.contains("bash") {
                commands += ShellWords(command[script + 1]).commands
            }
        }
    }

    private mutating func step() {
        let character = text[index]
        index += 1
        switch character {
        case "'": quoted(by: "'")
        case "\"": quoted(by: "\"")
        case "\\": take(index < text.count ? String(text[index]) : "", advancing: true)
        case "$" where index < text.count && text[index] == "(": substitution()
        case "#" where word == nil: while index < text.count, text[index] != "\n" { index += 1 }
        case " ", "\t": endWord()
        case "\n", ";", "|", "&", "(", ")", "{", "}": endCommand()
        case "<", ">": redirect()
        default: take(String(character))
        }
    }

    private mutating func take(_ text: String, advancing: Bool = false) {
        word = (word ?? "") + text
        if advancing { index += 1 }
    }

    private mutating func quoted(by quote: Character) {
        take("")
        while index < text.count, text[index] != quote {
            if quote == "\"", text[index] == "$", index + 1 < text.count, text[index + 1] == "(" {
                index += 1
                substitution()
            } else {
                take(String(text[index]), advancing: true)
            }
        }
        index += 1
    }

    /// Parses a substitution, after the `$` of `$(…)`.
    private mutating func substitution() {
        var depth = 0
        let start = index + 1
        repeat {
            if text[index] == "(" { depth += 1 }
            if text[index] == ")" { depth -= 1 }
            index += 1
        } while depth > 0 && index < text.count
        commands += ShellWords(String(text[start..<max(start, index - 1)])).commands
        take("substituted")
    }

    private mutating func redirect() {
        // A descriptor before it is no argument.
        if let number = word, number.allSatisfy(\.isNumber) { word = nil }
        endWord()
        while index < text.count, [">", "<", "&", "|"].contains(text[index]) { index += 1 }
        redirects = true
    }

    private mutating func endWord() {
        guard let word else { return }
        self.word = nil
        if redirects { redirects = false } else { words.append(word) }
    }

    private mutating func endCommand() {
        endWord()
        redirects = false
        if !words.isEmpty { commands.append(words) }
        words = []
    }
}

/// The commands of the two programs that a document names.
struct DocumentedCommands {
    struct Command: Hashable, CustomStringConvertible {
        var document: String
        var program: String
        var arguments: [String]
        /// True when it is in a line of text, where it may be only a part of a command.
        var isMention = false
        /// True when the document says that it is not run: "Not run" in the paragraph before its block, or "(not run"
        /// after a mention.
        var isMarked = false

        var description: String { "\(document): \(program) \(arguments.joined(separator: " "))" }
    }

    /// The text between two fences.
    struct Block: Hashable {
        /// The line number of its first fence.
        var line: Int
        /// The text after the fence: empty for commands; `text` or another word for other contents.
        var language: String
        var isMarked: Bool
        /// The commands of the two programs in it.
        var commands: [Command] = []
    }

    private(set) var commands: [Command] = []
    private(set) var blocks: [Block] = []

    init(_ text: String, named document: String) {
        var (block, paragraph): ([String]?, String) = (nil, "")
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for (index, line) in lines.enumerated() {
            if line.hasPrefix("```") {
                if let lines = block {
                    let before = commands.count
                    if blocks[blocks.count - 1].language.isEmpty {
                        add(lines.joined(separator: "\n"), document, isMarked: blocks[blocks.count - 1].isMarked)
                    }
                    blocks[blocks.count - 1].commands = Array(commands[before...])
                } else {
                    let isMarked = paragraph.contains(Self.mark)
                    blocks.append(Block(line: index + 1, language: String(line.dropFirst(3)), isMarked: isMarked))
                }
                (block, paragraph) = (block == nil ? [] : nil, "")
            } else if block != nil {
                // A terminal's prompt before a command.
                block?.append(line.hasPrefix("$ ") ? String(line.dropFirst(2)) : line)
            } else if line.hasPrefix("    ") {
                add(line, document, isMarked: paragraph.contains(Self.mark))
            } else {
                paragraph = line.isEmpty ? "" : paragraph + line + "\n"
                let parts = line.split(separator: "`", omittingEmptySubsequences: false)
                for (place, part) in parts.enumerated() where !place.isMultiple(of: 2) {
                    let isMarked = place + 1 < parts.count && parts[place + 1].hasPrefix(" (\(Self.mark.lowercased())")
                    add(String(part), document, isMention: true, isMarked: isMarked)
                }
            }
        }
    }

    private static let mark = "Not run"

    private mutating func add(_ text: String, _ document: String, isMention: Bool = false, isMarked: Bool) {
        for words in ShellWords(text).commands {
            guard let place = words.firstIndex(where: { Self.programs.contains($0) }) else { continue }
            // Other words may precede it: settings of the environment, `exec`, a container's name.
            guard !isMention || place == 0, !Self.isNamed(words, place) else { continue }
            let arguments = words[(place + 1)...].filter { $0 != "…" && $0 != "..." }
            commands.append(
                Command(
                    document: document, program: words[place], arguments: arguments, isMention: isMention,
                    isMarked: isMarked))
        }
    }

    private static let programs = ["tidemark", "tide"]

    /// True when the word is an argument of another program, such as a role or a service of that name.
    private static func isNamed(_ words: [String], _ place: Int) -> Bool {
        let others = [
            "createuser", "createdb", "runuser", "systemctl", "journalctl", "docker", "psql", "CREATE", "GRANT",
            "apt-get",
        ]
        guard let first = words.first, others.contains(first) else { return false }
        // A command that runs in a container is one of ours.
        return !(first == "docker" && words[..<place].contains("exec"))
    }
}
