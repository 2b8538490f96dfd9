import Testing

let links = Rule(name: "links") { file in
    guard file.isMarkdown else { return [] }
    var isFenced = false
    return file.lines.enumerated().flatMap { number, line -> [Finding] in
        if line.trimmed.hasPrefix("```") {
            isFenced.toggle()
        }
        guard !isFenced else { return [] }
        return linkTargets(line).compactMap { target in
            guard let path = resolved(target, from: file.folder) else {
                return file.finding(number, "the link '\(target)' leaves the repository; link inside it")
            }
            return Repository.exists(path)
                ? nil : file.finding(number, "the link '\(target)' leads nowhere; mend the path")
        }
    }
}

/// The relative targets of the links and pictures of a line, without their anchors.
private func linkTargets(_ line: String) -> [String] {
    guard line.has("](") else { return [] }
    // The text between backquotes is code: every second part.
    let shown = line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        .map { $0.offset.isMultiple(of: 2) ? String($0.element) : "`" }.joined()
    return shown.ranges(of: "](").compactMap { opening in
        guard let close = shown[opening.upperBound...].firstIndex(of: ")") else { return nil }
        let target = shown[opening.upperBound..<close].split(separator: " ").first ?? ""
        let path = target.prefix { $0 != "#" }
        guard !path.isEmpty, !target.contains("://"), !target.hasPrefix("mailto:"), !target.hasPrefix("doc:") else {
            return nil
        }
        return String(path)
    }
}

/// A path from the top of the repository, or `nil` when it climbs out of it.
private func resolved(_ target: String, from folder: String) -> String? {
    var parts = target.hasPrefix("/") ? [] : folder.split(separator: "/")
    for part in target.split(separator: "/") where part != "." {
        if part != ".." {
            parts.append(part)
        } else if parts.popLast() == nil {
            return nil
        }
    }
    return parts.joined(separator: "/")
}

@Suite struct LinksTests {
    @Test func `every relative link in a page leads to a file`() {
        expectNone(links.findings(in: Repository.files))
    }

    @Test func `a broken link is found, and one that leaves the repository`() {
        let page = SourceFile(
            path: "Tests/Tidy/PAGE.md",
            text: """
                [here](Finding.swift#top) ![up](../../LICENSE) [out](https://swift.org) [below](#below)
                [gone](Gone.swift "title")
                [outside](../../../secret.md) and `[code](x.md)`
                ```
                [fenced](nowhere.md)
                ```
                """)
        #expect(links.check(page).map(\.line) == [2, 3])
    }
}
