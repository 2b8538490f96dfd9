import Testing

/// A mistake in one line, described so that the reader knows what to do.
struct Finding: Hashable, CustomStringConvertible {
    let path: String
    let line: Int
    let advice: String

    var description: String { "\(path):\(line): \(advice)" }
}

/// Fails the running test once for each finding.
func expectNone(_ findings: [Finding]) {
    for finding in findings {
        Issue.record(Comment(rawValue: finding.description))
    }
}
