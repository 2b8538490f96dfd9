package import TidemarkModel

/// A client that was there, and what is known of it since.
///
///     SeenClient(client, at: now, app: "shop 2.4.1", written: 12, position: 120)
package struct SeenClient: Hashable, Sendable {
    package var client: ClientID
    package var time: Milliseconds
    /// Name and version of the app; `nil` where it did not say, so that what was noted before stays. The same goes for the others.
    package var app: String?
    /// The number of the last transaction that it wrote: what it says of itself, which nothing relies on.
    package var written: Int64?
    /// The number up to which it had the workspace's order when that was noted.
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

    /// Takes over what a later one knows.
    package mutating func merge(_ later: SeenClient) {
        time = later.time
        app = later.app ?? app
        written = later.written ?? written
        position = later.position ?? position
    }
}
