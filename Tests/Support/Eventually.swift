/// Repeats a check until it succeeds. After a minute it fails with the description, or the line that waited.
func eventually(
    _ what: String? = nil, file: String = #fileID, line: Int = #line,
    _ isSo: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + .seconds(60)
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

    var description: String { "not within a minute: \(what)" }
}
