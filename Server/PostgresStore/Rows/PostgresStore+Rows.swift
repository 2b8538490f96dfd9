import TidemarkModel
import TidemarkPostgres
import TidemarkStore

extension PostgresStore {
    /// Runs a step of compaction or erasure in one transaction. It takes no workspace's lock: writers wait only for the
    /// records that it has found.
    func inSteps<Machine: RowMachine>(
        of workspace: WorkspaceID, _ begin: (PostgresConnection) async throws -> Machine
    ) async throws(StoreError) -> Machine {
        try await on(reading) { connection in
            _ = try await connection.run(transactions.beginWrite + [FenceSQL.check(generation)])
            var machine = try await begin(connection)
            try await machine.run { try await answer($0, in: workspace, on: connection) }
            _ = try await connection.run([Transactions.commit])
            return machine
        }
    }

    private func answer(
        _ call: RowCall, in workspace: WorkspaceID, on connection: PostgresConnection
    ) async throws -> RowAnswer {
        func changed(_ statement: PreparedStatement, _ add: (inout Parameters) -> Void) async throws -> Int {
            try await connection.run([Statement(statement, workspace, add)]).first?.affectedRows ?? 0
        }
        func found(_ statement: PreparedStatement, _ add: (inout Parameters) -> Void) async throws -> RowAnswer {
            let rows = try await connection.run([Statement(statement, workspace, add)]).first
            return RowAnswer(
                found: try rows?.all {
                    FoundRecord(
                        key: RecordKey(collection: try $0.text(), id: try $0.id()), scope: ScopeID(try $0.text()),
                        isDeleted: try $0.bool())
                } ?? [])
        }
        switch call {
        case .dropBatches(let seq, let limit):
            return RowAnswer(
                rows: try await changed(RowSQL.dropBatches) {
                    $0.add(seq)
                    $0.add(Int64(limit))
                })
        case .tombstones(let seq, let openers, let areOpeners, let limit):
            return try await found(areOpeners ? RowSQL.graves : RowSQL.tombstones) {
                $0.add(seq)
                $0.add(openers)
                $0.add(Int64(limit))
            }
        case .records(let scope, let limit):
            return try await found(RowSQL.records) {
                $0.add(text: scope.text)
                $0.add(Int64(limit))
            }
        case .forget(let records): return try await forget(records, in: workspace, on: connection)
        case .dropLedgers(let records):
            var answer = RowAnswer()
            for record in records {
                answer.ledgerEntries += try await changed(RowSQL.dropLedgers) {
                    $0.add(text: record.key.collection)
                    $0.add(record.key.id)
                }
            }
            return answer
        // `trim` does so for all workspaces.
        case .dropOldLedger: return RowAnswer()
        case .dropMarks(let seq):
            return RowAnswer(
                rows: try await changed(RowSQL.dropMarks) { $0.add(seq) }
                    + changed(OperatingSQL.dropEndedBehind) { $0.add(seq) })
        case .emptyBodies(let scope, let limit):
            _ = try await changed(OperatingSQL.dropEndedOfScope) { $0.add(text: scope.text) }
            return RowAnswer(
                rows: try await changed(ErasureSQL.dropBodies) {
                    $0.add(text: scope.text)
                    $0.add(Int64(limit))
                })
        }
    }

    private func forget(
        _ records: [FoundRecord], in workspace: WorkspaceID, on connection: PostgresConnection
    ) async throws -> RowAnswer {
        guard !records.isEmpty else { return RowAnswer() }
        let forget = Statement(RowSQL.forget, workspace) {
            $0.add(records.map(\.key.collection))
            $0.add(records.map(\.key.id))
        }
        return try await connection.run([forget]).first?.first {
            RowAnswer(rows: Int(try $0.integer()), ledgerEntries: Int(try $0.integer()))
        } ?? RowAnswer()
    }
}
