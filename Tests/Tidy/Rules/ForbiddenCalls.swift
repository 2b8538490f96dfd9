import Testing

/// A call that some folders must not contain, with what to write instead.
private struct ForbiddenCall: Sendable {
    let phrases: [String]
    let isForbidden: @Sendable (SourceFile) -> Bool
    let advice: String
}

private let forbiddenCalls: [ForbiddenCall] = [
    ForbiddenCall(
        phrases: ["Task.detached"], isForbidden: { $0.lies(in: Layout.productFolders) },
        advice: "a detached task has no parent that ends it; put it into a task group"),
    ForbiddenCall(
        phrases: ["Task.sleep"], isForbidden: { _ in true },
        advice: "waiting for wall time; take a clock as a parameter, and in a test wait for the event"),
    ForbiddenCall(
        phrases: ["Thread.sleep", "usleep("], isForbidden: { _ in true },
        advice: "this blocks a thread that others need; wait for the event"),
    ForbiddenCall(
        phrases: ["fatalError("], isForbidden: { _ in true },
        advice: "this ends the process for everyone; throw, or make the state impossible"),
    ForbiddenCall(phrases: ["try!"], isForbidden: { _ in true }, advice: "throw the error on, or catch it"),
    ForbiddenCall(phrases: ["as!"], isForbidden: { _ in true }, advice: "use 'as?' and say what happens otherwise"),
    ForbiddenCall(
        phrases: ["print(", "debugPrint(", "NSLog("],
        isForbidden: { !$0.lies(in: ["Server/Daemon/", "ClientSDK/Terminal/", "ClientSDK/Examples/", "Tests/"]) },
        advice: "only commands print; a library logs a static sentence with metadata"),
]

let calls = Rule(name: "calls") { file in
    guard file.isSwift else { return [] }
    let rules = forbiddenCalls.filter { $0.isForbidden(file) }
    return file.code.enumerated().flatMap { number, line in
        rules.flatMap { rule in
            rule.phrases.filter { line.holds($0) }.map { file.finding(number, "'\($0)': \(rule.advice)") }
        }
    }
}

/// A task that no caller awaits: `Task {`, `Task<…> {`, `Task(…`, `Task.immediate`.
let unstructuredTasks = Rule(name: "unstructured tasks") { file in
    guard file.isSwift, file.lies(in: Layout.productFolders) else { return [] }
    return file.code.enumerated().compactMap { number, line in
        guard line.has("Task"), beginsTask(line) else { return nil }
        return file.finding(number, "a bare task outlives its maker; make it a child of a task group or of a service")
    }
}

private func beginsTask(_ line: String) -> Bool {
    line.ranges(of: "Task").contains { range in
        let before = line[..<range.lowerBound].trimmed
        guard line[..<range.lowerBound].last?.isIdentifierPart != true else { return false }
        // `-> Task<…> {` and `: Task<…> {` name a type; the brace opens the body of the function or property that
        // has it.
        guard !before.hasSuffix("->"), !before.hasSuffix(":"), !before.hasSuffix(".") else { return false }
        var rest = line[range.upperBound...]
        if rest.hasPrefix(".immediate") { return true }
        if rest.first == "<", let close = rest.lastIndex(of: ">") {
            rest = rest[rest.index(after: close)...]
        }
        let opening = rest.drop { $0 == " " }.first
        return opening == "{" || rest.first == "("
    }
}

/// Code that reads a clock or draws random numbers.
private let impurePhrases = [
    "Date()", "Date.now", "UUID()", ".random(", ".randomElement()", ".shuffled()", "SystemRandomNumberGenerator",
    "ContinuousClock.now", "ContinuousClock().now", "SuspendingClock.now", "clock_gettime", "DispatchTime.now",
]

let purity = Rule(name: "purity") { file in
    guard file.isSwift, file.lies(in: Layout.pureFolders) else { return [] }
    return file.code.enumerated().flatMap { number, line in
        impurePhrases.filter { line.holds($0) }.map {
            file.finding(number, "'\($0)' in a pure folder; take time and randomness as arguments")
        }
    }
}

@Suite struct ForbiddenCallsTests {
    @Test func `no code traps, blocks or prints`() {
        expectNone(calls.findings(in: Repository.swiftFiles))
    }

    @Test func `no task is started that no caller awaits`() {
        expectNone(unstructuredTasks.findings(in: Repository.swiftFiles))
    }

    @Test func `pure folders read no clock and draw no random number`() {
        expectNone(purity.findings(in: Repository.swiftFiles))
    }

    @Test func `each forbidden call is found in code, and not in comments or strings`() {
        let bad = """
            try await Task.sleep(for: .seconds(1))
            Thread.sleep(forTimeInterval: 1)
            let a = b as! Int
            try! run()
            fatalError("no")
            print("hello")
            Task.detached { }
            // try! fatalError( as! print(
            log("try! print(x) \\(name) as! fatalError(")
            fingerprint(1); reprint(2); let task = subTask.sleepless
            """
        #expect(calls.check(SourceFile(path: "Server/A.swift", text: bad)).map(\.line) == Array(1...7))
        #expect(calls.check(SourceFile(path: "Server/Daemon/A.swift", text: "print(1)")).isEmpty)
        #expect(calls.check(SourceFile(path: "Tests/A.swift", text: "print(1)\nTask.sleep")).map(\.line) == [2])
    }

    @Test func `a bare task is found in each of its forms`() {
        let tasks = """
            Task { await run() }
            running = Task<Void, Never> { await run() }
            Task(priority: .high) { }
            Task.immediate { }
            group.addTask { await run() }
            func start() -> Task<Void, Never> {
            var running: Task<Void, Never> { stored }
            Task.isCancelled
            """
        #expect(unstructuredTasks.check(SourceFile(path: "Server/A.swift", text: tasks)).map(\.line) == [1, 2, 3, 4])
        #expect(unstructuredTasks.check(SourceFile(path: "Tests/A.swift", text: tasks)).isEmpty)
    }

    @Test func `a clock or a random number in a pure folder is found`() {
        let impure = "let now = Date()\nlet id = UUID()\nlet n = Int.random(in: 0..<3)\nlet same = UUID(bytes)\n"
        #expect(purity.check(SourceFile(path: "Shared/Model/A.swift", text: impure)).map(\.line) == [1, 2, 3])
        #expect(purity.check(SourceFile(path: "Server/Sequencer/BatchPlanner.swift", text: impure)).count == 3)
        #expect(purity.check(SourceFile(path: "ClientSDK/SDK/Engine/Machine/A.swift", text: impure)).count == 3)
        #expect(purity.check(SourceFile(path: "ClientSDK/SDK/Engine/SyncEngine.swift", text: impure)).isEmpty)
    }
}
