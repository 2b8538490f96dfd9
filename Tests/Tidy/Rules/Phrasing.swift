import Testing

/// Words that open a clause or a sentence without a subject, where a reader looks for a noun or a verb.
private let clauseOpenings: Set<Substring> = [
    "What", "Who", "Whose", "Whom", "Where", "How", "Of", "As", "By", "Those", "Which", "None", "So", "Whoever",
    "Whatever",
]

/// One of this many doc comments may begin with such a word.
private let docCommentsPerOpening = 100

let docOpenings = Rule(name: "doc openings") { file in
    guard file.isSwift else { return [] }
    return docComments(file).compactMap { number in
        let word = file.prose[number].trimmed.drop { $0 == "/" || $0 == " " }.prefix { $0.isIdentifierPart }
        guard clauseOpenings.contains(word) else { return nil }
        return file.finding(number, "a doc comment begins with '\(word)'; begin with a noun, or for a call with a verb")
    }
}

/// The first line of each doc comment. A block of `///` lines is one comment.
private func docComments(_ file: SourceFile) -> [Int] {
    var isInside = false
    return file.prose.indices.filter { number in
        let isComment = file.prose[number].has("///") && file.prose[number].trimmed.hasPrefix("///")
        defer { isInside = isComment }
        return isComment && !isInside
    }
}

/// Paths whose subject is a scope's short key, which the glossary calls a `place`.
private let pathsAboutPlaces = [
    "Server/PostgresStore/", "Server/EmbeddedStore/", "Tests/StoreContract/PostgresPlaceTests.swift",
    "Shared/GLOSSARY.md", "deploy/citus.md",
]

/// The whole repository may hold this many more, for sentences that no other word fits.
private let placesMax = 10

private let formsOfPlace: Set<Substring> = ["place", "Place", "places", "Places"]

/// Words before `place` that make a phrase with another meaning.
private let wordsBeforePlace: Set<String> = ["in", "take", "takes", "taking", "taken", "took"]

let places = Rule(name: "places") { file in
    guard file.isSwift || file.isMarkdown, !file.lies(in: pathsAboutPlaces),
        file.prose.contains(where: { $0.has("lace") })
    else { return [] }
    let lines = sentences(file)
    return lines.enumerated().flatMap { number, line -> [Finding] in
        guard line.has("lace") else { return [] }
        let found = words(line)
        return found.indices.compactMap { index in
            let before = index > 0 ? found[index - 1] : number > 0 ? words(lines[number - 1]).last : nil
            guard formsOfPlace.contains(found[index]), !wordsBeforePlace.contains(before?.lowercased() ?? "") else {
                return nil
            }
            return file.finding(
                number,
                "'\(found[index])' has many meanings; say index, position, slot, offset, hash, line, address or key")
        }
    }
}

/// The sentences in each line of a file: comments in Swift, everything in a page, without code spans and fenced blocks.
private func sentences(_ file: SourceFile) -> [String] {
    var isFenced = false
    return file.prose.indices.map { number in
        let text = file.isSwift ? comment(file, number) : file.prose[number]
        if file.isSwift, text.isEmpty {
            isFenced = false
        }
        let isFence = text.drop { $0 == "/" || $0 == " " }.hasPrefix("```")
        if isFence {
            isFenced.toggle()
        }
        guard !isFence, !isFenced, text.has("`") else { return isFence || isFenced ? "" : text }
        // The text between backquotes is code: every second part.
        return text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .map { $0.offset.isMultiple(of: 2) ? String($0.element) : "`" }.joined()
    }
}

/// The comments of a line of Swift: the characters that the view of the prose has and the view of the code lacks.
private func comment(_ file: SourceFile, _ number: Int) -> String {
    guard file.prose[number] != file.code[number] else { return "" }
    let bytes = zip(file.prose[number].utf8, file.code[number].utf8).map { $0 == $1 ? UInt8(ascii: " ") : $0 }
    return String(decoding: bytes, as: UTF8.self).trimmed
}

private func words(_ line: String) -> [Substring] { line.split { !$0.isIdentifierPart } }

/// Says which findings there are when they are more than `limit`.
private func excess(_ findings: [Finding], atMost limit: Int) -> String? {
    guard findings.count > limit else { return nil }
    return (["\(findings.count) findings, at most \(limit) are accepted:"] + findings.map(\.description))
        .joined(separator: "\n")
}

@Suite struct PhrasingTests {
    @Test func `of a hundred doc comments at most one begins with a clause`() {
        let count = Repository.swiftFiles.reduce(0) { $0 + docComments($1).count }
        let findings = docOpenings.findings(in: Repository.swiftFiles)
        if let message = excess(findings, atMost: count / docCommentsPerOpening) {
            Issue.record(Comment(rawValue: message))
        }
    }

    @Test func `comments and pages name an index, a position or a file instead of a 'place'`() {
        if let message = excess(places.findings(in: Repository.files), atMost: placesMax) {
            Issue.record(Comment(rawValue: message))
        }
    }

    @Test func `each path about places leads to a file`() {
        for path in pathsAboutPlaces { #expect(Repository.exists(path), "\(path)") }
    }

    @Test(arguments: [
        ("Of what the value stands in.", "The path of the container that holds the value."),
        (
            "Of a value and a file that holds it, one is set: by who counts more.",
            "A secret and its file exclude each other; the source with the higher priority wins."
        ),
        ("What is none is told by who reads it.", "The reader reports an invalid value."),
        (
            "What is not there is told by its name; else it is the address that is not.",
            "A 404 names the missing record; without a name, the path itself is unknown."
        ),
        (
            "Who was not seen since that is written down counts as seen now.",
            "Clients without a last-seen time get the current time."
        ),
        ("What GRDB asked about last and was told yes.", "The last event kind that a watch observes."),
        ("How far that has come which is under way.", "The progress of the current activity."),
        (
            "Of too many the one goes whose absence widens the gaps…",
            "When the list is full, the cursor whose removal leaves the smallest gap is dropped."
        ),
        (
            "Who is at the other end is the right-most address that no trusted proxy has…",
            "The peer is the right-most address in the configured header that is not a trusted proxy."
        ),
        ("Of the journal.", "The journal's entry."), ("By a refresh token.", "Authenticates with a refresh token."),
        ("Of a group.", "The members of the group."),
        (
            "Whoever reaches the server is whoever he wants to be.",
            "Anyone who reaches this server can act as any user."
        ),
    ])
    func `a comment that begins with a clause is found, its better version is not`(before: String, after: String) {
        func found(_ comment: String) -> [Finding] {
            let text = "struct A {\n    /// \(comment)\n    let a = 1\n}"
            return docOpenings.check(SourceFile(path: "Server/A.swift", text: text))
        }
        #expect(found(before).map(\.line) == [2])
        #expect(found(after).isEmpty)
    }

    @Test func `only the first line of a doc comment counts, and only in comments`() {
        let text = """
            /// The newest batch.
            /// What follows is a second line.
            let a = \"""
                /// Of a text.
                \"""
            // So says an ordinary comment.
            /// Whether it is sorted.
            let b = 1
            /// None.
            let c = 1  /// How it ends.
            """
        let file = SourceFile(path: "Server/A.swift", text: text)
        #expect(docOpenings.check(file).map(\.line) == [9])
        #expect(docComments(file) == [0, 6, 8])
        #expect(docOpenings.check(SourceFile(path: "A.md", text: "/// Of a page.")).isEmpty)
    }

    @Test func `a 'place' is found in a comment and in a page`() {
        let text = """
            /// The place in the list.
            let place = "place"  // Places differ.
            /// It takes place once, in place, on a placeholder. Sorting takes
            /// place in `place`; see PLACES.md.
            /// ```
            /// let place = 1
            /// ```
            /// Its place's end. In its place, another place.
            func `a place`() {}
            """
        let file = SourceFile(path: "Server/Hub/A.swift", text: text)
        #expect(places.check(file).map(\.line) == [1, 2, 8, 8, 8])
        #expect(places.check(SourceFile(path: "Server/PostgresStore/A.swift", text: text)).isEmpty)
        let page = "The place.\n\n```\nplace\n```\n| a place | `place` |\nin\nplace"
        #expect(places.check(SourceFile(path: "deploy/A.md", text: page)).map(\.line) == [1, 6])
        #expect(places.check(SourceFile(path: "deploy/a.sh", text: "# The place.")).isEmpty)
    }

    @Test func `more findings than the limit are listed, with file and line`() {
        let findings = [1, 2].map { Finding(path: "A.swift", line: $0, advice: "say more") }
        #expect(excess(findings, atMost: 2) == nil)
        #expect(
            excess(findings, atMost: 1) == """
                2 findings, at most 1 are accepted:
                A.swift:1: say more
                A.swift:2: say more
                """)
    }
}
