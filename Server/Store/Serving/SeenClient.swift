package import TidemarkModel

/// A client that was seen, and what is known of it since.
///
///     SeenClient(client, at: now, app: "shop 2.4.1", written: 12, position: 120)
package struct SeenClient: Hashable, Sendable {
    package var client: ClientID
    package var time: Milliseconds
    /// Name and version of the app. `nil` if the client did not report it, which leaves the earlier value; the same
    /// holds for the other values.
    package var app: String?
    /// The number of the last transaction that the client wrote, as reported by the client; nothing relies on it.
    package var written: Int64?
    /// The number up to which the client had the workspace's order when it was noted.
    package var position: SequenceNumber?

    package init(
        _ client: ClientID, at time: Milliseconds, app: String? = nil, written: Int64? = nil,
        position: SequenceNumber? = nil
    ) {
        self.client = client
        self.time = time
        self.app = app
        self.written = written
        self.position = position
    }

    /// Takes over the values that a later sighting knows.
    package mutating func merge(_ later: SeenClient) {
        time = later.time
        app = later.app ?? app
        written = later.written ?? written
        position = later.position ?? position
    }
}
