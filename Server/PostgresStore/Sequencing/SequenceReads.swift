import TidemarkModel
import TidemarkPostgres
import TidemarkStore

/// The questions before a batch is planned and the reading of their answers, both in the same order.
struct SequenceReads {
    /// The state that was found under the lock.
    struct Answer {
        /// True when the workspace has a row, which is now locked.
        var isLocked = false
        var state = OrderState(head: .start)
        /// The time at which another node last renewed its listening.
        var heard: Milliseconds?
    }

    let workspace: WorkspaceID
    let node: UInt64
    let generation: Int
    let reads: ReadSet

    /// - Parameter generation: this node's.
    init(workspace: WorkspaceID, node: UInt64, generation: Int, reads: ReadSet) {
        self.workspace = workspace
        self.node = node
        self.generation = generation
        self.reads = reads.lookingAtBirths
    }

    var statements: [Statement] {
        var statements = [
            SequencingSQL.lock(workspace, generation: generation),
            Statement(SequencingSQL.headAndListeners, workspace) { $0.add(Int64(bitPattern: node)) },
        ]
        if !reads.clients.isEmpty {
            statements.append(
                Statement(SequencingSQL.clients, workspace) { $0.add(reads.clients) })
        }
        if !reads.seats.isEmpty {
            statements.append(
                Statement(SequencingSQL.seats, workspace) {
                    $0.add(reads.seats.map(\.user.text))
                    $0.add(reads.seats.map(\.scope.text))
                })
        }
        let pairs = pairs
        if !pairs.isEmpty {
            statements.append(
                Statement(SequencingSQL.records, workspace) {
                    $0.add(pairs.map(\.key.collection))
                    $0.add(pairs.map(\.key.id))
                    $0.addInt16Array(pairs.map { $0.isWanted ? 1 : 0 })
                    $0.addTextArray(pairs.map { $0.user?.text })
                })
        }
        return statements
    }

    private struct Pair {
        var key: RecordKey
        var user: UserID?
        /// True when the plan needs the record itself: in one of its pairs.
        var isWanted: Bool
    }

    private var pairs: [Pair] {
        var wanted = Set(reads.records)
        var pairs = reads.recordSeats.map { seat in
            Pair(key: seat.record, user: seat.user, isWanted: wanted.remove(seat.record) != nil)
        }
        for key in reads.records where wanted.remove(key) != nil {
            pairs.append(Pair(key: key, user: nil, isWanted: true))
        }
        return pairs
    }

    /// - Parameter results: one for each of `statements`.
    func answer(_ results: ArraySlice<ResultSet>) throws -> Answer {
        var results = results
        var answer = Answer()
        answer.isLocked = results.popFirst()?.rowCount == 1
        if let row = results.popFirst() { try readHead(row, into: &answer) }
        if !reads.clients.isEmpty {
            for client in try results.popFirst()?.all({ try $0.storedClient() }) ?? [] {
                answer.state.clients[client.row.id] = client
            }
        }
        if !reads.seats.isEmpty {
            for (user, grant) in try results.popFirst()?.all({ (UserID(try $0.text()), try $0.grant()) }) ?? [] {
                answer.state.grants[Seat(user: user, scope: grant.scope)] = grant
            }
        }
        if let pairs = results.popFirst() {
            for row in 0..<pairs.rowCount { try readPair(RowReader(pairs, row), into: &answer.state) }
        }
        return answer
    }

    private func readPair(_ row: RowReader, into found: inout OrderState) throws {
        var row = row
        let record = try row.storedRecord()
        if try row.small() == 1 { found.records[record.key] = record }
        guard let user = try row.optionalText().map({ UserID($0) }), let since = try row.optionalInteger() else {
            return
        }
        found.grants[Seat(user: user, scope: record.scope)] = Grant(
            scope: record.scope, since: since, role: try row.role())
    }

    private func readHead(_ result: ResultSet, into answer: inout Answer) throws {
        guard result.rowCount > 0 else { return }
        var row = RowReader(result, 0)
        if try !result.isNull(0, 0) {
            answer.state.head = try row.head()
            answer.heard = try row.optionalInteger()
        } else if try !result.isNull(0, 4) {
            answer.heard = try result.int64(0, 4)
        }
    }
}
