/// Asks again until something is so. What never comes fails after half a minute, and says what it was.
func eventually(_ what: @autoclosure () -> String, _ isSo: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(30)
    while try await !isSo() {
        guard ContinuousClock.now < end else { throw NeverSo(what: what()) }
        // What it waits for may need this thread.
        await Task.yield()
    }
}

/// The condition that a test waited for in vain.
struct NeverSo: Error, CustomStringConvertible {
    let what: String

    var description: String { "not within half a minute: \(what)" }
}
