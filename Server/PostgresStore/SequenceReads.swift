import TidemarkModel
import TidemarkPostgres
import TidemarkStore

/// What a step asks in its first round trip, and how the answers are read: both in the same order.
struct SequenceReads {
    /// What was found under the lock.
    struct Answer {
        /// The workspace has a row, which is now locked.
        var isLocked: Bool
        var found: ReadResult
        /// When another node last said that it listens.
        var heard: Milliseconds?
    }

    let workspace: WorkspaceID
    let node: UInt64
    let reads: ReadSet

    var statements: [Statement] {
        var statements = [
            Statement(SequencingSQL.lock, workspace),
            Statement(SequencingSQL.headAndListeners, workspace) { $0.add(Int64(bitPattern: node)) },
        ]
        if !reads.clients.isEmpty {
            statements.append(Statement(SequencingSQL.clients, workspace) { $0.add(reads.clients.map(\.client)) })
            statements.append(
                Statement(SequencingSQL.results, workspace) {
                    $0.add(reads.clients.map(\.client))
                    $0.add(reads.clients.map(\.first))
                    $0.add(reads.clients.map(\.last))
                })
        }
        if !reads.seats.isEmpty {
            statements.append(
                Statement(SequencingSQL.seats, workspace) {
                    $0.add(reads.seats.map(\.user.text))
                    $0.add(reads.seats.map(\.scope.text))
                })
        }
        if !reads.recordSeats.isEmpty {
            statements.append(
                Statement(SequencingSQL.recordSeats, workspace) {
                    $0.add(reads.recordSeats.map(\.user.text))
                    $0.add(reads.recordSeats.map(\.record.collection))
                    $0.add(reads.recordSeats.map(\.record.id))
                })
        }
        if !reads.records.isEmpty {
            statements.append(
                Statement(SequencingSQL.records, workspace) {
                    $0.add(reads.records.map(\.collection))
                    $0.add(reads.records.map(\.id))
                })
        }
        return statements
    }

    /// - Parameter results: those of `statements`, one each.
    func answer(_ results: ArraySlice<ResultSet>) throws -> Answer {
        var results = results
        var answer = Answer(isLocked: false, found: ReadResult(head: .start))
        answer.isLocked = results.popFirst()?.rowCount == 1
        if let row = results.popFirst() { try readHead(row, into: &answer) }
        if !reads.clients.isEmpty {
            for client in try results.popFirst()?.all({ try $0.client() }) ?? [] {
                answer.found.clients[client.id] = client
            }
            for result in try results.popFirst()?.all({ try $0.result() }) ?? [] {
                answer.found.results[result.client, default: [:]][result.number] = result
            }
        }
        for asked in [reads.seats.isEmpty, reads.recordSeats.isEmpty] where !asked {
            let grants = try results.popFirst()?.all { (UserID(try $0.text()), try $0.grant()) }
            for (user, grant) in grants ?? [] {
                answer.found.grants[Seat(user: user, scope: grant.scope)] = grant
            }
        }
        if !reads.records.isEmpty {
            for record in try results.popFirst()?.all({ try $0.record() }) ?? [] {
                answer.found.records[record.key] = record
            }
        }
        return answer
    }

    private func readHead(_ result: ResultSet, into answer: inout Answer) throws {
        guard result.rowCount > 0 else { return }
        var row = RowReader(result, 0)
        if try !result.isNull(0, 0) {
            answer.found.head = try row.head()
            answer.heard = try row.optionalInteger()
        } else if try !result.isNull(0, 4) {
            answer.heard = try result.int64(0, 4)
        }
    }
}
