import Testing

/// Code that needs a newer system is on the page that says what older systems do instead.
func newerSystems(listed: Set<String>) -> Rule {
    Rule(name: "newer systems") { file in
        guard file.isSwift, file.lies(in: Layout.productFolders) else { return [] }
        return file.code.enumerated().compactMap { number, line in
            guard let versions = askedVersions(line) else { return nil }
            guard versions.contains("iOS "), versions.contains("macOS "), versions.hasSuffix("*") else {
                return file.finding(number, "say both: (iOS …, macOS …, *)")
            }
            guard !listed.contains(file.path) else { return nil }
            return file.finding(number, "say in deploy/floor.md what older systems do instead")
        }
    }
}

/// The text in the brackets of `#available` and `@available`; `nil` when it has no version.
private func askedVersions(_ line: String) -> Substring? {
    guard let start = line.firstRange(of: "available(")?.upperBound, let end = line[start...].firstIndex(of: ")") else {
        return nil
    }
    let versions = line[start..<end]
    return versions.contains("OS ") ? versions : nil
}

/// The targets of `Package.swift`, found by searching its text.
private struct Manifest {
    private(set) var folders: [String: String] = [:]
    private(set) var dependencies: [String: Set<String>] = [:]
    private(set) var libraries: Set<String> = []

    init(_ text: String) {
        for part in text.split(separator: ".target(").dropFirst() {
            guard let name = Self.quoted(in: part, after: "name: \""),
                let folder = Self.quoted(in: part, after: "path: \""), let end = part.firstRange(of: "path: ")
            else { continue }
            folders[name] = folder
            dependencies[name] = Set(part[..<end.lowerBound].split(separator: "\"").map(String.init)).subtracting([name]
            )
        }
        for name in dependencies.keys { dependencies[name]?.formIntersection(folders.keys) }
        for part in text.split(separator: ".library(").dropFirst() {
            if let name = Self.quoted(in: part, after: "targets: [\"") { libraries.insert(name) }
        }
    }

    /// The targets that a library links, itself among them.
    var linked: Set<String> {
        var (linked, left) = (Set<String>(), Array(libraries))
        while let name = left.popLast() {
            if linked.insert(name).inserted { left += dependencies[name] ?? [] }
        }
        return linked
    }

    private static func quoted(in part: Substring, after head: String) -> String? {
        guard let start = part.firstRange(of: head)?.upperBound else { return nil }
        return String(part[start...].prefix { $0 != "\"" })
    }
}

@Suite struct FloorTests {
    private static func file(_ path: String) -> SourceFile? { Repository.files.first { $0.path == path } }

    /// The files of the table in `deploy/floor.md`.
    private static var listed: [String] {
        file("deploy/floor.md")?.lines.compactMap { line in
            line.hasPrefix("| `") ? String(line.dropFirst(3).prefix { $0 != "`" }) : nil
        } ?? []
    }

    /// Folder and module of each line of `floor_targets`.
    private static var checked: [(folder: String, module: String)] {
        let script = file("deploy/lib/floor.sh")
        let list = script?.lines.drop { $0 != "floor_targets=(" }.dropFirst().prefix { $0 != ")" } ?? []
        return list.map { line in
            let words = line.trimmed.dropFirst().dropLast().split(separator: " ").map(String.init)
            return (words.first ?? "", words.last ?? "")
        }
    }

    @Test func `code that needs a newer system is on the page that says what older systems do`() {
        expectNone(newerSystems(listed: Set(Self.listed)).findings(in: Repository.swiftFiles))
        for path in Self.listed {
            let asks = Self.file(path)?.code.contains { askedVersions($0) != nil } ?? false
            #expect(asks, "remove \(path) from deploy/floor.md")
        }
    }

    @Test func `all targets that an app can link are checked for the oldest systems, dependencies first`() throws {
        let manifest = Manifest(try #require(Self.file("Package.swift")).lines.joined(separator: "\n"))
        #expect(Set(Self.checked.map(\.module)) == manifest.linked)
        var seen: Set<String> = []
        for (folder, module) in Self.checked {
            #expect(manifest.folders[module] == folder)
            #expect(
                manifest.dependencies[module]?.isSubset(of: seen) ?? false, "\(module) comes before what it imports")
            seen.insert(module)
        }
    }

    @Test func `a newer system that is on no page is found, and a check that names one system only`() {
        let code = """
            if #available(iOS 17, macOS 14, *) { }
            @available(*, unavailable)
            @available(iOS 17, *)
            // if #available(iOS 17, macOS 14, *)
            """
        func lines(_ listed: Set<String>) -> [Int] {
            newerSystems(listed: listed).check(SourceFile(path: "ClientSDK/SDK/A.swift", text: code)).map(\.line)
        }
        #expect(lines([]) == [1, 3] && lines(["ClientSDK/SDK/A.swift"]) == [3])
    }
}
