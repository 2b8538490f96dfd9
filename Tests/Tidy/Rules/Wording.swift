import Testing

/// Words about the workplace where a file was written, not about its subject. Each is spelled in two halves, so
/// that this file does not contain it.
private let wordsOfWorkplaces = [
    "session " + "ended", "Clau" + "de", "Anthro" + "pic", "AI " + "assistant", "language " + "model",
]

/// Folders of one machine. They are findings at the beginning of a path, not inside a longer one.
private let foldersOfMachines = ["/wor" + "k/", "/ro" + "ot/", "/Us" + "ers/"]

/// Hosts of package registries: they belong to an environment, not to a repository.
private let hostsOfRegistries = [
    "pypi" + ".org", "pythonhosted" + ".org", "deb.debian" + ".org", "registry.npmjs" + ".org", "crates" + ".io",
    "proxy.golang" + ".org",
]

private let lowered = (wordsOfWorkplaces + hostsOfRegistries).map { ($0, $0.lowercased()) }

let wording = Rule(name: "wording") { file in
    file.lines.enumerated().flatMap { number, line -> [Finding] in
        let text = line.lowercased()
        let words = lowered.filter { text.has($0.1) }.map(\.0)
        let folders = foldersOfMachines.filter { line.has($0) && beginsPath($0, in: line) }
        return (words + folders).map {
            file.finding(number, "'\($0)' is about where this was written; say what holds on every machine")
        }
    }
}

private func beginsPath(_ folder: String, in line: String) -> Bool {
    line.ranges(of: folder).contains { range in
        guard let before = line[..<range.lowerBound].last else { return true }
        return !before.isIdentifierPart && !".-/}".contains(before)
    }
}

@Suite struct WordingTests {
    @Test func `nothing speaks of the workplace where it was written`() {
        expectNone(wording.findings(in: Repository.files))
    }

    @Test func `a word, a folder or a host of a workplace is found`() {
        for bad in wordsOfWorkplaces + hostsOfRegistries {
            #expect(wording.check(SourceFile(path: "a.md", text: "see \(bad), there")).count == 1, "\(bad)")
        }
        for bad in foldersOfMachines {
            #expect(wording.check(SourceFile(path: "a.md", text: "run \(bad)x")).count == 1, "\(bad)")
            #expect(wording.check(SourceFile(path: "a.md", text: "run ./lib\(bad)x")).isEmpty, "\(bad)")
        }
    }
}
