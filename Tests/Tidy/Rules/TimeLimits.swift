import Testing

/// A test that waits for a stream has a time limit: a bug that stops the stream then fails a named test, instead of
/// blocking the run for ever.
let timeLimits = Rule(name: "time limits") { file in
    guard file.isSwift, file.lies(in: ["Tests/"]), file.code.contains(where: { $0.holds("@Test") }),
        !file.code.contains(where: { $0.contains(".timeLimit(") })
    else { return [] }
    return file.code.enumerated().compactMap { number, line in
        let waits = line.holds("for await") || line.holds("for try await") || awaitsNext(line)
        return waits ? file.finding(number, "waits for a stream; give the suite '.timeLimit(.minutes(5))'") : nil
    }
}

/// Whether the line has a call such as `await values.next()`.
private func awaitsNext(_ line: String) -> Bool {
    guard let wait = line.firstRange(of: "await ") else { return false }
    return line[wait.upperBound...].contains(".next()")
}

@Suite struct TimeLimitsTests {
    @Test func `every suite that waits for a stream has a time limit`() {
        expectNone(timeLimits.findings(in: Repository.swiftFiles))
    }

    @Test func `a wait without a limit is found in each of its forms`() {
        let waits = """
            @Test func a() async throws {
            for await value in values { break }
            for try await value in values where value.isLast { break }
            #expect(try await values.next() == 1)
            let number = generator.next()
            for value in values {}
            """
        #expect(timeLimits.check(SourceFile(path: "Tests/A.swift", text: waits)).map(\.line) == [2, 3, 4])
        let limited = "@Suite(.timeLimit(.minutes(5))) struct A {}\n" + waits
        #expect(timeLimits.check(SourceFile(path: "Tests/A.swift", text: limited)).isEmpty)
        #expect(timeLimits.check(SourceFile(path: "Server/A.swift", text: waits)).isEmpty)
    }
}
