import Testing
import TidemarkModel

@testable import TidemarkSequencer

/// Decides pieces as a store does that cannot store some transactions, and records the pieces.
private struct Trial {
    var poison: Set<TransactionID> = []
    var isDeadly = false
    private(set) var pieces: [[TransactionID]] = []
    private(set) var remedies: [Bisection.Remedy] = []

    mutating func run(_ submissions: [Submission]) -> [PushOutcome] {
        var bisection = Bisection(submissions)
        while let piece = bisection.next() {
            let entries = piece.submissions.flatMap(\.entries).map(\.id)
            pieces.append(entries)
            if entries.contains(where: poison.contains), !piece.refuses || isDeadly {
                remedies.append(bisection.refused(piece))
            } else {
                bisection.committed(piece, piece.submissions.map { settled($0, refused: piece.refuses) })
            }
        }
        return bisection.outcomes
    }
}

private func submission(_ client: UInt64, from first: Int64, _ ids: UInt64...) -> Submission {
    Submission(
        client: Sample.id(client), principal: Principal(user: UserID("ann")), connection: 1, ackedThrough: 0,
        first: first, entries: ids.map { AdmittedEntry(id: Sample.id($0), ifSeq: nil, steps: .success([])) }, bytes: 1)
}

private func settled(_ submission: Submission, refused: Bool) -> PushOutcome {
    let results = submission.entries.enumerated().map { offset, entry in
        TransactionOutcome(
            number: submission.first + Int64(offset), transaction: entry.id, seq: 1, time: 1,
            rejection: refused ? Rejection(.internalRejected, "no") : nil)
    }
    return .settled(through: results.last?.number ?? 0, results: results)
}

private func numbers(_ outcome: PushOutcome) -> [Int64] {
    if case .settled(_, let results) = outcome { results.map(\.number) } else { [] }
}

private func refusals(_ outcome: PushOutcome) -> [Int64] {
    if case .settled(_, let results) = outcome {
        results.filter { $0.rejection != nil }.map(\.number)
    } else {
        []
    }
}

@Suite struct BisectionTests {
    @Test func `a healthy group is one piece`() {
        var trial = Trial()
        let outcomes = trial.run([submission(1, from: 1, 11, 12), submission(2, from: 5, 21)])
        #expect(trial.pieces.count == 1)
        #expect(outcomes.map(numbers) == [[1, 2], [5]])
    }

    @Test func `one poisonous entry is refused alone and everything else is committed in its order`() {
        var trial = Trial(poison: [Sample.id(32)])
        let outcomes = trial.run([
            submission(1, from: 1, 11, 12), submission(2, from: 1, 21), submission(3, from: 7, 31, 32, 33),
            submission(4, from: 1, 41), submission(3, from: 10, 34),
        ])
        #expect(outcomes.map(numbers) == [[1, 2], [1], [7, 8, 9], [1], [10]])
        #expect(outcomes.map(refusals) == [[], [], [8], [], []])
        #expect(trial.remedies == [.halve, .halve, .singleOut, .repeatOnce, .refuse])
        // The client's own order is kept.
        let singles = trial.pieces.filter { $0.count == 1 && $0 != [Sample.id(21)] && $0 != [Sample.id(41)] }
        #expect(singles.flatMap(\.self) == [31, 32, 32, 32, 33, 34].map(Sample.id))
    }

    @Test func `an entry that succeeds the second time is not refused`() {
        var bisection = Bisection([submission(1, from: 1, 11)])
        let first = bisection.next()
        #expect(first.map { bisection.refused($0) } == .repeatOnce)
        let second = bisection.next()
        #expect(second?.refuses == false)
        if let second { bisection.committed(second, [settled(second.submissions[0], refused: false)]) }
        #expect(bisection.next() == nil)
        #expect(refusals(bisection.outcomes[0]) == [])
        #expect(numbers(bisection.outcomes[0]) == [1])
    }

    @Test func `an entry whose very refusal cannot be stored ends its submission and no other`() {
        var trial = Trial(poison: [Sample.id(12)], isDeadly: true)
        let outcomes = trial.run([submission(1, from: 1, 11, 12, 13), submission(2, from: 1, 21)])
        #expect(outcomes[0] == .unavailable)
        #expect(numbers(outcomes[1]) == [1])
        #expect(trial.remedies.last == .giveUp)
        #expect(!trial.pieces.contains([Sample.id(13)]))
    }

    @Test func `a submission that is divided ends at its first gap`() {
        var bisection = Bisection([submission(1, from: 1, 11, 12)])
        if let whole = bisection.next() { _ = bisection.refused(whole) }
        let single = bisection.next()
        if let single { bisection.committed(single, [.gap(settledThrough: 0)]) }
        #expect(bisection.next() == nil)
        #expect(bisection.outcomes == [.gap(settledThrough: 0)])
    }

    @Test func `abandoned entries are unavailable and settled ones stay settled`() {
        var bisection = Bisection([submission(1, from: 1, 11), submission(2, from: 1, 21, 22)])
        if let whole = bisection.next() { _ = bisection.refused(whole) }
        if let first = bisection.next() { bisection.committed(first, [settled(first.submissions[0], refused: false)]) }
        if let second = bisection.next() { bisection.abandon(second) }
        #expect(bisection.next() == nil)
        #expect(numbers(bisection.outcomes[0]) == [1])
        #expect(bisection.outcomes[1] == .unavailable)
    }

    @Test func `waiting times double up to their bound`() {
        let timing = CommitTiming()
        let waits = (1...8).map { timing.wait(afterFailures: $0) / .milliseconds(1) }
        #expect(waits == [50, 100, 200, 400, 800, 1_600, 2_000, 2_000])
        #expect(timing.wait(afterFailures: .max) == .seconds(2))
    }
}
