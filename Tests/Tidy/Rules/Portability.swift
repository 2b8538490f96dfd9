import Testing

/// The names of the C library that Tests/AppleStubs/Darwin.swift declares.
struct CLibrary {
    /// Apple's headers have them with another type or value.
    var different: Set<String> = []
    /// Apple's headers do not have them.
    var missing: Set<String> = []

    init(stub: SourceFile) {
        for line in stub.code {
            let words = line.replacing("(", with: " ").replacing(":", with: " ").split(separator: " ")
            guard let kind = words.firstIndex(where: { ["let", "func", "struct", "typealias"].contains($0) }),
                words[..<kind].contains("public"), line.first != " ", kind + 1 < words.count
            else { continue }
            if line.has("unavailable") {
                missing.insert(String(words[kind + 1]))
            } else {
                different.insert(String(words[kind + 1]))
            }
        }
    }

    /// The first of some names that a line of code uses. A member or a declaration of that name is no use.
    static func name(of names: Set<String>, usedIn line: String) -> String? {
        var rest = line[...]
        var before: Character = " "
        while let start = rest.firstIndex(where: \.isIdentifierPart) {
            if start > rest.startIndex { before = rest[rest.index(before: start)] }
            let word = rest[start...].prefix { $0.isIdentifierPart }
            let isDeclared = ["func ", "case ", "let ", "var "].contains { line[..<start].hasSuffix($0) }
            // A lower-case name alone may be a variable of ours. If it is called, or is a constant, it is the
            // system's, except for our `poll()`.
            let isUsed =
                rest[word.endIndex...].first == "(" && (word != "poll" || rest[word.endIndex...].hasPrefix("(&"))
                || word.first?.isLowercase == false || word.hasSuffix("_t")
            if before != ".", !isDeclared, isUsed, names.contains(String(word)) { return String(word) }
            before = word.last ?? " "
            rest = rest[word.endIndex...]
        }
        return nil
    }
}

/// Foundation imports the C library of the system that it runs on.
let systemImports = Rule(name: "system imports") { file in
    guard file.isSwift else { return [] }
    return file.code.enumerated().compactMap { number, line in
        guard let module = importedModule(line), ["Glibc", "Musl", "Android", "Darwin"].contains(module),
            file.folder != "Tests/AppleStubs"
        else { return nil }
        return file.finding(number, "'\(module)' is on one system; 'import Foundation' brings the C library of each")
    }
}

/// A name that Darwin lacks is used only where Darwin is excluded; a name that it declares differently, only where
/// the code is compiled against the stub.
func portability(_ library: CLibrary, checkedFolders: [String]) -> Rule {
    Rule(name: "portability") { file in
        guard file.isSwift, file.folder != "Tests/AppleStubs" else { return [] }
        // Few files have any of these names, and splitting lines is slow.
        let text = file.code.joined(separator: "\n")
        let (missing, different) = (library.missing.filter(text.has), library.different.filter(text.has))
        guard !missing.isEmpty || !different.isEmpty else { return [] }
        /// For each open `#if`: whether its present part is for other systems than Darwin alone.
        var elsewhere: [Bool] = []
        return file.code.enumerated().compactMap { number, line in
            let words = line.trimmed
            if words.hasPrefix("#if") {
                elsewhere.append(words == "#if !canImport(Darwin)")
            } else if words.hasPrefix("#else"), let last = elsewhere.popLast() {
                elsewhere.append(!last)
            } else if words.hasPrefix("#endif") {
                _ = elsewhere.popLast()
            }
            if !elsewhere.contains(true), let name = CLibrary.name(of: missing, usedIn: line) {
                return file.finding(number, "Darwin has no '\(name)'; use what both have, or '#if !canImport(Darwin)'")
            }
            guard !file.lies(in: checkedFolders), let name = CLibrary.name(of: different, usedIn: line) else {
                return nil
            }
            return file.finding(
                number, "'\(name)' differs on Darwin, and the folder is not in apple_targets of deploy/lib/apple.sh")
        }
    }
}

/// The files that read Linux's `/proc`. Each has another way on systems without it.
private let procReaders = [
    "ClientSDK/Terminal/Bench/Live/ProcessCost.swift", "ClientSDK/Terminal/Bench/ResidentMemory.swift",
    "ClientSDK/Terminal/Bench/StolenTime.swift", "ClientSDK/Terminal/Demo/Process/ServerProcess.swift",
    "ClientSDK/Terminal/Inspect/LiveSource.swift", "Server/Assembly/Figures/ProcessFigures.swift",
]

@Suite struct PortabilityTests {
    static let library = Repository.files.first { $0.path == "Tests/AppleStubs/Darwin.swift" }.map(CLibrary.init(stub:))

    @Test func `no file imports the C library of one system`() {
        expectNone(systemImports.findings(in: Repository.swiftFiles))
        let file = SourceFile(
            path: "Server/Store/A.swift", text: "import Foundation\ninternal import Glibc\nimport Musl")
        #expect(systemImports.check(file).map(\.line) == [2, 3])
    }

    @Test func `a name that Darwin lacks or declares differently is used only where a check compiles it`() throws {
        let library = try #require(Self.library)
        #expect(
            library.missing.isSuperset(of: ["accept4", "fdatasync", "SOCK_CLOEXEC", "epoll_wait", "posix_fadvise"]))
        #expect(library.different.isSuperset(of: ["SOCK_STREAM", "pthread_create", "rlimit", "nfds_t", "posix_spawn"]))
        let rule = portability(library, checkedFolders: PlatformBranchesTests.checkedFolders)
        expectNone(rule.findings(in: Repository.swiftFiles))
    }

    @Test func `the files that read Linux's process files are listed, and no other reads them`() {
        let readers = Repository.swiftFiles.filter { file in
            file.folder != "Tests/Tidy/Rules"
                && zip(file.lines, file.prose).contains { line, prose in line.has("\"/proc/") && !prose.has("\"/proc/")
                }
        }
        #expect(Set(readers.map(\.path)) == Set(procReaders))
    }

    @Test func `a call that Darwin lacks is found outside a branch for other systems`() throws {
        let rule = portability(try #require(Self.library), checkedFolders: ["Server/Checked/"])
        let code = """
            accept4(listener, nil, nil, SOCK_CLOEXEC)
            #if canImport(Darwin)
            fdatasync(file)
            #else
            fdatasync(file)
            #endif
            #if !canImport(Darwin)
            posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)
            #else
            eventfd(0, 0)
            #endif
            list.splice(at: 1); func syscall() {}; let environ = 1; use(environ)
            // accept4(listener)
            """
        #expect(rule.check(SourceFile(path: "Server/Checked/A.swift", text: code)).map(\.line) == [1, 3, 10])
        let different = "let type = SOCK_STREAM\nvar limit = rlimit()\nself.rlimit()\nlet count: nfds_t = 1"
        #expect(rule.check(SourceFile(path: "Server/Other/A.swift", text: different)).map(\.line) == [1, 2, 4])
        #expect(rule.check(SourceFile(path: "Server/Checked/A.swift", text: different)).isEmpty)
    }
}
