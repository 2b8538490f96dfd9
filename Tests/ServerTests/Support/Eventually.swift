/// Repeats a check until it succeeds. After half a minute it fails with the description.
func eventually(_ what: @autoclosure () -> String, _ isSo: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(30)
    while try await !isSo() {
        guard ContinuousClock.now < end else { throw NeverSo(what: what()) }
        // The awaited work may need this thread.
        await Task.yield()
    }
}

/// The condition that a test waited for in vain.
struct NeverSo: Error, CustomStringConvertible {
    let what: String

    var description: String { "not within half a minute: \(what)" }
}
