/// Short words between the nodes on one store that nobody keeps: what is lost is lost.
///
/// A word is one line of at most 7,000 bytes without line breaks.
package protocol NodeRelay: Sendable {
    /// Tells the other nodes soon; never waits, may be lost. Any thread.
    func tell(_ word: String)

    /// What the others tell, until the task is cancelled. Asked for once.
    func words() -> AsyncStream<String>
}

/// The relay of a node that is alone: nobody hears.
package struct NoRelay: NodeRelay {
    package init() {}

    package func tell(_ word: String) {}

    package func words() -> AsyncStream<String> { AsyncStream { $0.finish() } }
}
