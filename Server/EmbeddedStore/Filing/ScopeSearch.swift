import GRDB
import TidemarkModel
import TidemarkSQLite

/// Finds the rows of records by their scopes: filed ones, and those among the recent records.
struct ScopeSearch {
    let db: Database
    let workspace: WorkspaceID

    /// A record's number and row.
    struct Spot {
        var seq: SequenceNumber
        var row: Int64
    }

    /// Returns the records of the scopes that changed in a span, in order, without reading bodies. One descent per
    /// scope.
    func spots(in scopes: [ScopeID], after seq: SequenceNumber, through: SequenceNumber) throws -> [Spot] {
        let feed = try Prepared(FilingSQL.feed, db)
        let places = try Set(scopes.compactMap(place(of:)))
        var spots: [Spot] = []
        for place in places {
            try feed.forEach(
                {
                    $0.integer(place)
                    $0.integer(seq)
                    $0.integer(through)
                },
                { columns in
                    spots.append(Spot(seq: columns.integer(), row: columns.integer()))
                    return true
                })
        }
        try recent(after: seq, through: through) { place, spot in
            if places.contains(place) { spots.append(spot) }
        }
        return spots.sorted { $0.seq < $1.seq }
    }

    /// Returns the first records of a scope after a number, in order, without reading bodies.
    func spots(in scope: ScopeID, after seq: SequenceNumber, limit: Int) throws -> [Spot] {
        guard let place = try place(of: scope) else { return [] }
        var spots = try [FilingSQL.someOfFeed, FilingSQL.someRecent].flatMap { sql in
            try Prepared(sql, db).all(
                {
                    $0.integer(place)
                    $0.integer(seq)
                    $0.integer(Int64(limit))
                }, { Spot(seq: $0.integer(), row: $0.integer()) })
        }
        spots.sort { $0.seq < $1.seq }
        return Array(spots.prefix(limit))
    }

    /// Returns the scopes with a change after `seq`.
    func changed(among scopes: [ScopeID], after seq: SequenceNumber) throws -> [ScopeID] {
        let hasChanged = try Prepared(FilingSQL.hasChanged, db)
        var recentPlaces = Set<Int64>()
        try recent(after: seq, through: .max) { place, _ in recentPlaces.insert(place) }
        return try scopes.filter { scope in
            guard let place = try place(of: scope) else { return false }
            if recentPlaces.contains(place) { return true }
            return try hasChanged.first(
                {
                    $0.integer(place)
                    $0.integer(seq)
                }, { $0.integer() }) != nil
        }
    }

    /// Reads the rows of living records born before `born`, the newest first, until `each` returns false.
    func page(
        _ scope: ScopeID, _ collection: String, before born: SequenceNumber, _ each: (Int64) throws -> Bool
    ) throws {
        guard let place = try place(of: scope) else { return }
        var goesOn = true
        for sql in [FilingSQL.recentPage, FilingSQL.page] where goesOn {
            try Prepared(sql, db).forEach(
                {
                    $0.integer(place)
                    $0.text(collection)
                    $0.integer(born)
                },
                { columns in
                    goesOn = try each(columns.integer())
                    return goesOn
                })
        }
    }

    private func recent(
        after seq: SequenceNumber, through: SequenceNumber, _ each: (_ place: Int64, Spot) -> Void
    ) throws {
        try Prepared(FilingSQL.recentFeed, db).forEach(
            {
                $0.integer(seq)
                $0.integer(through)
            },
            { columns in
                each(columns.integer(), Spot(seq: columns.integer(), row: columns.integer()))
                return true
            })
    }

    private func place(of scope: ScopeID) throws -> Int64? {
        try Prepared(FilingSQL.place, db).first(
            {
                $0.text(workspace.text)
                $0.text(scope.text)
            }, { $0.integer() })
    }
}
