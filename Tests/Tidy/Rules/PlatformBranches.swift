import Testing

/// The folders whose files are compiled with a trait or without it, and the traits. A check compiles each side: the
/// build, and `check_without_postgres` of deploy/lib/apple.sh.
private let traitFolders = ["Server/Assembly/Postgres/": ["PostgreSQL", "!PostgreSQL"]]

/// Conditional compilation has one form, which asks whether a module of Apple's can be imported. So
/// `deploy/test.sh` compiles every branch: the build on Linux one side, the check against the stubs the other.
func platformBranches(stubs: Set<String>, checkedFolders: [String]) -> Rule {
    Rule(name: "platform branches") { file in
        // The manifest is compiled by every build, for the system that builds.
        guard file.isSwift, file.path != "Package.swift" else { return [] }
        return file.code.enumerated().compactMap { number, line in
            let words = line.trimmed
            guard words.hasPrefix("#if") || words.hasPrefix("#elseif") else { return nil }
            if traitFolders.contains(where: { folder, traits in
                file.path.hasPrefix(folder) && traits.contains { words == "#if \($0)" }
            }) {
                return nil
            }
            guard let module = testedModule(words) else {
                return file.finding(number, "no check compiles this branch; write '#if canImport(MODULE)'")
            }
            guard stubs.contains(module) else {
                return file.finding(number, "'\(module)' has no stub in Tests/AppleStubs, so no check compiles this")
            }
            guard file.lies(in: checkedFolders) else {
                return file.finding(number, "the folder is not in apple_targets of deploy/lib/apple.sh")
            }
            return nil
        }
    }
}

/// Code that imports a module of Apple's is in a folder that the check against the stubs compiles.
func platformImports(stubs: Set<String>, checkedFolders: [String]) -> Rule {
    Rule(name: "platform imports") { file in
        guard file.isSwift, !file.lies(in: checkedFolders), file.folder != "Tests/AppleStubs" else { return [] }
        return file.code.enumerated().compactMap { number, line in
            guard let module = importedModule(line), stubs.contains(String(module)), module != "Foundation" else {
                return nil
            }
            return file.finding(number, "the folder is not in apple_targets of deploy/lib/apple.sh")
        }
    }
}

/// The module of a condition that the check against the stubs makes true, or makes false when it begins with `!`.
private func testedModule(_ line: String) -> String? {
    guard let condition = line.prefixRemoved("#if ") else { return nil }
    let plain = condition.suffixRemoved(" && !os(macOS)") ?? condition
    return (plain.prefixRemoved("canImport(") ?? plain.prefixRemoved("!canImport("))?.suffixRemoved(")")
}

extension String {
    fileprivate func prefixRemoved(_ prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }

    fileprivate func suffixRemoved(_ suffix: String) -> String? {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : nil
    }
}

@Suite struct PlatformBranchesTests {
    private static let stubs = Set(
        Repository.files.filter { $0.folder == "Tests/AppleStubs" }
            .map { String($0.path.split(separator: "/").last?.dropLast(".swift".count) ?? "") })

    /// The folders of `apple_targets`: lines of the form `"FOLDER… MODULE"`.
    static var checkedFolders: [String] {
        let script = Repository.files.first { $0.path == "deploy/lib/apple.sh" }
        let list = script?.lines.drop { $0 != "apple_targets=(" }.dropFirst().prefix { $0 != ")" } ?? []
        return list.flatMap { line in
            line.trimmed.dropFirst().split(separator: " ").dropLast().map { "\($0)/" }
        }
    }

    @Test func `every branch for another platform is compiled by a check`() {
        let rule = platformBranches(stubs: Self.stubs, checkedFolders: Self.checkedFolders)
        expectNone(rule.findings(in: Repository.swiftFiles))
    }

    @Test func `a file that imports a module of Apple's is compiled by a check`() {
        let rule = platformImports(stubs: Self.stubs, checkedFolders: Self.checkedFolders)
        expectNone(rule.findings(in: Repository.swiftFiles))
        let file = SourceFile(path: "ClientSDK/Chat/A.swift", text: "import Foundation\nimport SwiftUI")
        #expect(rule.check(file).map(\.line) == [2])
    }

    @Test func `every folder in the check uses a stub, and every stub is used`() {
        let platform = Self.stubs.subtracting(["Foundation"])
        let different = PortabilityTests.library?.different ?? []
        let checked = Repository.swiftFiles.filter { file in
            file.lies(in: Self.checkedFolders)
                && file.code.contains { line in
                    line.trimmed.hasPrefix("#if ")
                        || importedModule(line).map { platform.contains(String($0)) } ?? false
                        || CLibrary.name(of: different, usedIn: line) != nil
                }
        }
        for folder in Self.checkedFolders {
            #expect(checked.contains { $0.path.hasPrefix(folder) }, "remove '\(folder)' from apple_targets")
        }
        for stub in Self.stubs {
            let imports = checked.flatMap { $0.code.compactMap(importedModule) }
            let branches = checked.flatMap { $0.code.compactMap { testedModule($0.trimmed) } }
            #expect(
                imports.contains { $0 == stub } || branches.contains(stub), "remove Tests/AppleStubs/\(stub).swift")
        }
    }

    @Test func `a branch that no check compiles is found`() {
        let rule = platformBranches(stubs: ["Network"], checkedFolders: ["ClientSDK/SDK/"])
        let code = """
            #if canImport(Network)
            #elseif canImport(Network)
            #endif
            #if canImport(Network) && !os(macOS)
            #if !canImport(Network)
            #if os(iOS)
            #if canImport(UIKit)
            #if canImport(Network) || DEBUG
            // #if os(iOS)
            """
        #expect(rule.check(SourceFile(path: "ClientSDK/SDK/A.swift", text: code)).map(\.line) == [2, 6, 7, 8])
        #expect(rule.check(SourceFile(path: "ClientSDK/Chat/A.swift", text: "#if canImport(Network)")).count == 1)
        for folder in ["Server/Assembly/Postgres/", "Server/Assembly/"] {
            let trait = SourceFile(path: "\(folder)A.swift", text: "#if !PostgreSQL\n#if Server")
            #expect(rule.check(trait).count == (folder == "Server/Assembly/" ? 2 : 1))
        }
    }
}
