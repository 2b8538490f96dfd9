/// Repeats a check until it succeeds. After four minutes, before a suite's limit, it fails with the description, or the
/// line that waited: the tests of a suite begin together, and while compilers use the cores, one may wait for most of
/// the suite's time.
func eventually(
    _ what: String? = nil, file: String = #fileID, line: Int = #line,
    _ isSo: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + .seconds(240)
    while try await !isSo() {
        try Task.checkCancellation()
        guard ContinuousClock.now < end else { throw NeverSo(what: what ?? "\(file):\(line)") }
        // The awaited work may need this thread.
        await Task.yield()
    }
}

/// The condition that a test waited for in vain.
struct NeverSo: Error, CustomStringConvertible {
    let what: String

    var description: String { "not within four minutes: \(what)" }
}
