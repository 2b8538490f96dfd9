import Testing

/// The release's number is written in one file; where a text repeats it, this test compares.
@Suite struct ReleaseTests {
    private static func text(_ path: String) throws -> String {
        try #require(Repository.files.first { $0.path == path }, "\(path)").lines.joined(separator: "\n")
    }

    private static func number() throws -> String {
        let source = try text("Shared/Wire/Release.swift")
        return try String(#require(source.firstMatch(of: /static let number = "(\d+\.\d+\.\d+)"/)).1)
    }

    /// Text before the number, in each file that names a release of ours.
    private static let mentions: KeyValuePairs<String, String> = [
        "ClientSDK/SDK/Tidemark.docc/Adding.md": "from: \"",
        "deploy/CHANGELOG.md": "\n## ",
        "deploy/Dockerfile": "org.opencontainers.image.version=\"",
        "deploy/README.md": "tidemark_",
        "deploy/kubernetes/tidemark.yaml": "image: tidemark:",
    ]

    @Test func `each file that names the release names the number of the source`() throws {
        let number = try Self.number()
        for (path, before) in Self.mentions {
            let found = try Self.text(path).ranges(of: before)
            #expect(!found.isEmpty, "\(path): \(before)")
        }
        for (path, before) in Self.mentions {
            let text = try Self.text(path)
            let named = text.ranges(of: before).map { text[$0.upperBound...].prefix { $0.isNumber || $0 == "." } }
                .filter { !$0.isEmpty }
            // The changelog has all releases, the newest first.
            #expect(named.first.map(String.init) == number, "\(path)")
            if path != "deploy/CHANGELOG.md" { #expect(Set(named).count == 1, "\(path): \(named)") }
        }
    }

    /// Whether a line has the number by itself, not as a part of an address such as 10.1.0.1.
    private static func names(_ number: String, in line: String) -> Bool {
        line.ranges(of: number).contains { range in
            let before = line[..<range.lowerBound].last
            let after = line[range.upperBound...].prefix(2)
            let goesOn = after.first?.isNumber == true || after.first == "." && after.last?.isNumber == true
            return before?.isNumber != true && before != "." && !goesOn
        }
    }

    @Test func `a number is found by itself, and not in an address`() {
        #expect(["0.1.0", "v0.1.0", "from 0.1.0.", "\"0.1.0\""].allSatisfy { Self.names("0.1.0", in: $0) })
        #expect(!["10.1.0.1", "0.1.01", "2.0.1.0", "0.1.0.4"].contains { Self.names("0.1.0", in: $0) })
    }

    @Test func `no other file has the number by hand`() throws {
        let number = try Self.number()
        let known = Set(Self.mentions.map(\.key) + ["Shared/Wire/Release.swift"])
        for file in Repository.files where !known.contains(file.path) && !file.path.hasPrefix("Tests/") {
            for (line, text) in file.lines.enumerated() where Self.names(number, in: text) {
                Issue.record("\(file.finding(line, "the release's number; read it from Shared/Wire/Release.swift"))")
            }
        }
    }

    @Test func `programs, images, packages and the welcome take the number from the source`() throws {
        #expect(try Self.text("Server/CommandLine/ProgramVersion.swift").contains("number = Release.number"))
        #expect(try Self.text("Server/Assembly/ServerAssembly.swift").contains("release: Release.number"))
        let release = try Self.text("deploy/release.sh")
        #expect(release.contains(#"version=$("$work/tidemark" --version"#))
        for call in ["make_image", "make_deb", "make_sbom"] {
            let lines = release.split(separator: "\n")
            let line = try #require(lines.first { $0.hasPrefix("\(call) ") }, "\(call)")
            #expect(line.contains("$version"), "\(call)")
        }
        #expect(try Self.text(".github/workflows/release.yml").contains("Shared/Wire/Release.swift"))
    }

    @Test func `a change is checked on each system and against its branch, and a tag makes a release`() throws {
        for workflow in ["apple", "linux"] {
            let text = try Self.text(".github/workflows/\(workflow).yml")
            #expect(text.contains("run: deploy/test.sh") && text.contains("pull_request:"), "\(workflow)")
        }
        let linux = try Self.text(".github/workflows/linux.yml")
        #expect(linux.contains("swift package diagnose-api-breaking-changes"))
        let manifest = try Self.text("Package.swift")
        for library in manifest.matches(of: /\.library\(name: "(\w+)"/) {
            #expect(linux.contains("--products \(library.1)"), "\(library.1)")
        }
        let release = try Self.text(".github/workflows/release.yml")
        #expect(release.contains("tags:") && release.contains("run: deploy/release.sh"))
        for path in Repository.files.map(\.path) where path.hasPrefix(".github/workflows/") {
            let text = try Self.text(path)
            #expect(text.hasPrefix("# ") && text.contains("# This file has never been run"), "\(path)")
        }
    }
}
