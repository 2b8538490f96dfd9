import Testing
import TidemarkModel
import TidemarkNode

/// The selection of a page among many connections.
@Suite struct ConnectionSelectionTests {
    private func row(_ id: UInt64, bytes: Int64, user: String = "ann") -> ConnectionRow {
        var row = ConnectionRow(id: id, since: 1_000 - Int64(id), heard: Int64(id))
        (row.bytes, row.lag, row.pending) = (bytes, bytes * 2, bytes * 3)
        row.user = UserID(user)
        return row
    }

    private func query(_ order: ConnectionQuery.Order, limit: Int, descending: Bool = true) -> ConnectionQuery {
        var query = ConnectionQuery()
        (query.order, query.limit, query.isDescending) = (order, limit, descending)
        return query
    }

    private func chosen(_ rows: [ConnectionRow], _ query: ConnectionQuery) -> ConnectionSelection {
        var selection = ConnectionSelection(query)
        for row in rows { selection.offer(row) }
        return selection
    }

    @Test(arguments: ConnectionQuery.Order.allCases, [true, false])
    func `pages of any size are the whole list in its order`(_ order: ConnectionQuery.Order, _ descending: Bool) {
        var random = SystemRandomNumberGenerator()
        // Many equal values.
        let rows = (1...200).map { row($0, bytes: Int64.random(in: 0...20, using: &random)) }.shuffled(using: &random)
        let all = query(order, limit: 1_000, descending: descending)
        let places = rows.map(all.place(of:))
        let sorted = places.sorted { one, other in
            one.value == other.value ? one.id < other.id : descending == (one.value > other.value)
        }
        #expect(chosen(rows, all).rows.map(all.place(of:)) == sorted)
        for size in [1, 7, 200] {
            var (page, seen) = (query(order, limit: size, descending: descending), [ConnectionQuery.Place]())
            while true {
                // Two loops would choose like this.
                var found = chosen(Array(rows.prefix(90)), page)
                found.take(chosen(Array(rows.dropFirst(90)), page))
                #expect(found.matching == 200 && found.rows.count <= size)
                seen += found.rows.map(page.place(of:))
                guard found.hasMore, let last = seen.last else { break }
                page.after = last
            }
            #expect(seen == sorted)
        }
    }

    @Test func `only matching connections are chosen and counted`() {
        var wanted = query(.bytes, limit: 10)
        wanted.user = UserID("bob")
        let found = chosen([row(1, bytes: 5), row(2, bytes: 6, user: "bob"), row(3, bytes: 7)], wanted)
        #expect(found.rows.map(\.id) == [2] && found.matching == 1 && !found.hasMore)
        wanted.workspace = WorkspaceID("w")
        #expect(chosen([row(2, bytes: 6, user: "bob")], wanted).rows.isEmpty)
    }

    @Test func `of a hundred thousand only as many are kept as were requested`() {
        let found = chosen((1...100_000).map { row($0, bytes: Int64($0 % 1_000)) }, query(.bytes, limit: .max))
        #expect(found.rows.count == ConnectionQuery.limitMax && found.matching == 100_000 && found.hasMore)
        #expect(found.rows.allSatisfy { $0.bytes >= 990 })
    }
}
