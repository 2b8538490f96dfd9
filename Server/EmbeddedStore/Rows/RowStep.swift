import GRDB
import TidemarkModel
import TidemarkSQLite
import TidemarkStore

/// Answers the calls of a step of compaction or erasure on the writing connection, inside its transaction.
struct RowStep {
    let db: Database
    let workspace: WorkspaceID
    let filing: Filing

    func answer(_ call: RowCall) throws -> RowAnswer {
        switch call {
        case .dropBatches(let seq, let limit):
            return RowAnswer(rows: try changed(CompactionSQL.deleteBatches, seq, Int64(limit)))
        case .tombstones(let seq, let openers, let areOpeners, let limit):
            let rows = try Prepared(CompactionSQL.tombstones, db).all(
                {
                    $0.text(workspace.text)
                    $0.integer(seq)
                    $0.text(FieldValue.array(openers.map { .string($0) }).json)
                    $0.integer(areOpeners ? 1 : 0)
                    $0.integer(Int64(limit))
                }, { $0.integer() })
            return try found(rows)
        case .records(let scope, let limit):
            // Records that are not filed would not be found.
            try filing.run(db)
            guard let place = try place(of: scope) else { return RowAnswer() }
            let rows = try Prepared(CompactionSQL.scopeRows, db).all(
                {
                    $0.integer(place)
                    $0.integer(Int64(limit))
                }, { $0.integer() })
            return try found(rows)
        case .forget(let records): return try forget(records)
        case .dropLedgers(let records):
            return RowAnswer(
                ledgerEntries: try records.reduce(0) { sum, record in
                    sum + (try Prepared(CompactionSQL.deleteLedger, db).execute { $0.key(workspace, record.key) })
                })
        case .dropOldLedger(let time, let limit):
            return RowAnswer(ledgerEntries: try changed(LedgerSQL.dropOld, time, Int64(limit)))
        case .dropMarks(let seq):
            return RowAnswer(
                rows: try changed(OperatingSQL.dropEndedBehind, seq) + changed(CompactionSQL.deleteMarks, seq))
        // All at once: there are few after the last rows.
        case .emptyBodies(let scope, _):
            try Prepared(OperatingSQL.dropEndedOfScope, db).execute { $0.scope(scope, of: workspace) }
            if let place = try place(of: scope) {
                try Prepared(EmbeddedErasureSQL.dropPlace, db).execute { $0.integer(place) }
            }
            let through = try Prepared(EmbeddedErasureSQL.through, db).first({ $0.scope(scope, of: workspace) }) {
                $0.integer()
            }
            return RowAnswer(rows: try changed(EmbeddedErasureSQL.dropBodies, through ?? 0))
        }
    }

    private func place(of scope: ScopeID) throws -> Int64? {
        try Prepared(FilingSQL.place, db).first({ $0.scope(scope, of: workspace) }, { $0.integer() })
    }

    private func found(_ rows: [Int64]) throws -> RowAnswer {
        RowAnswer(
            found: try rows.compactMap { row in
                try FoundRow.at(row, db).map {
                    FoundRecord(key: $0.key, scope: $0.scope, isDeleted: $0.isDeleted, row: row)
                }
            })
    }

    private func forget(_ records: [FoundRecord]) throws -> RowAnswer {
        var answer = RowAnswer(rows: records.count)
        for record in records {
            answer.ledgerEntries += try FoundRow.at(record.row, db)?.forget(in: workspace, db) ?? 0
        }
        if !records.isEmpty { try Prepared(CompactionSQL.lowerFiling, db).execute { _ in } }
        return answer
    }

    private func changed(_ sql: String, _ numbers: Int64...) throws -> Int {
        try Prepared(sql, db).execute {
            $0.text(workspace.text)
            for number in numbers { $0.integer(number) }
        }
    }
}

extension Binding {
    mutating func scope(_ scope: ScopeID, of workspace: WorkspaceID) {
        text(workspace.text)
        text(scope.text)
    }
}
