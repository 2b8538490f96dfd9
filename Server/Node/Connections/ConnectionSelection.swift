package import TidemarkHub
package import TidemarkModel

/// A selection of connections and their order.
package struct ConnectionQuery: Hashable, Sendable {
    /// The value by which they are sorted.
    package enum Order: String, Sendable, CaseIterable {
        case bytes, pending, lag, last, since
    }

    package var order = Order.since
    /// True when the largest value comes first.
    package var isDescending = true
    package var workspace: WorkspaceID?
    package var user: UserID?
    package var client: ClientID?
    /// The last connection of the page before.
    package var after: Place?
    package var limit = 100

    /// The greatest number of connections in one answer.
    package static let limitMax = 1_000

    package init() {}

    /// A connection's position in the order; the id decides between equal values.
    package struct Place: Hashable, Sendable {
        package var value: Int64
        package var id: SessionID

        package init(value: Int64, id: SessionID) {
            self.value = value
            self.id = id
        }
    }

    /// Returns a connection's position in the order of this query.
    package func place(of row: ConnectionRow) -> Place {
        let value =
            switch order {
            case .bytes: row.bytes
            case .pending: row.pending
            case .lag: row.lag
            case .last: row.heard
            case .since: row.since
            }
        return Place(value: value, id: row.id)
    }

    func isBefore(_ one: Place, _ other: Place) -> Bool {
        guard one.value == other.value else { return isDescending == (one.value > other.value) }
        return one.id < other.id
    }

    func matches(workspace: WorkspaceID?, user: UserID?, client: ClientID?) -> Bool {
        (self.workspace == nil || self.workspace == workspace) && (self.user == nil || self.user == user)
            && (self.client == nil || self.client == client)
    }
}

/// The first of many connections in an order: never more than the limit, however many are offered. A pure
/// value.
package struct ConnectionSelection: Sendable {
    package let query: ConnectionQuery
    /// The chosen connections, in the query's order.
    package private(set) var rows: [ConnectionRow] = []
    /// The number of connections that match, whether they are in `rows` or not.
    package private(set) var matching = 0
    /// True when matching connections follow the last of `rows`.
    package private(set) var hasMore = false

    package init(_ query: ConnectionQuery) {
        var query = query
        query.limit = min(max(1, query.limit), ConnectionQuery.limitMax)
        self.query = query
    }

    /// Offers one connection.
    package mutating func offer(_ row: ConnectionRow) {
        guard query.matches(workspace: row.workspace, user: row.user, client: row.client) else { return }
        matching += 1
        insert(row)
    }

    /// Merges the choice of another selection with the same query.
    package mutating func take(_ other: ConnectionSelection) {
        matching += other.matching
        if other.hasMore { hasMore = true }
        for row in other.rows { insert(row) }
    }

    private mutating func insert(_ row: ConnectionRow) {
        let place = query.place(of: row)
        if let after = query.after, !query.isBefore(after, place) { return }
        if rows.count == query.limit {
            hasMore = true
            guard let last = rows.last, query.isBefore(place, query.place(of: last)) else { return }
            rows.removeLast()
        }
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if query.isBefore(query.place(of: rows[middle]), place) { low = middle + 1 } else { high = middle }
        }
        rows.insert(row, at: low)
    }
}
