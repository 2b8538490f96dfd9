import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkSequencer

@Suite struct LaneMachineTests {
    private let lost = StoreError(.unavailable, "lost")

    /// A drive with two batches on their way: flight 2 with `b`, and ahead of it flight 3 with `c`.
    private func driveOfTwo() throws -> LaneDrive {
        var drive = try LaneDrive()
        try drive.remember(1, 2, 3)
        drive.submit("b", client: 1, from: 2)
        #expect(drive.next(2) == ["commit 2", "wait open"])
        drive.submit("c", client: 2, from: 2, count: 3)
        #expect(drive.next(2) == ["commit 3 ahead", "wait"])
        return drive
    }

    @Test func `a batch of an unknown client is read, committed and delivered, and then the lane rests`() throws {
        var drive = try LaneDrive()
        #expect(drive.next() == "rest")
        drive.submit("a", client: 1, from: 1)
        #expect(drive.next(2) == ["read 1", "wait"])
        try drive.answerRead(1)
        // No batch goes ahead of one that had to be read.
        drive.submit("b", client: 2, from: 1, count: 3)
        #expect(drive.next(2) == ["commit 1", "wait"])
        try drive.answerCommit(1)
        #expect(drive.next(2) == ["read 2", "deliver 1 to a"])
        try drive.answerRead(2)
        #expect(drive.next() == "commit 2")
        try drive.answerCommit(2)
        #expect(drive.next(2) == ["deliver 2 to b", "rest"])
        #expect(drive.unsettled == [])
    }

    @Test func `a batch of remembered clients is committed without a read, and a long queue goes ahead`() throws {
        var drive = try driveOfTwo()
        try drive.answerCommit(2)
        try drive.answerCommit(3)
        #expect(drive.next(3) == ["deliver 4 to b", "deliver 5 to c", "rest"])
        #expect(drive.sizes == [3, 1, 3])
    }

    @Test func `at most two batches are on their way, and a short queue waits`() throws {
        var drive = try LaneDrive()
        try drive.remember(1, 2, 3)
        drive.submit("b", client: 1, from: 2)
        #expect(drive.next(2) == ["commit 2", "wait open"])
        drive.submit("c", client: 2, from: 2, count: 2)
        #expect(drive.next() == "wait open")
        drive.submit("d", client: 3, from: 2)
        #expect(drive.next() == "commit 3 ahead")
        drive.submit("e", client: 1, from: 3, count: 9)
        #expect(drive.next() == "wait")
    }

    @Test func `waiting transactions are committed before a written batch is delivered`() throws {
        var drive = try driveOfTwo()
        drive.submit("d", client: 3, from: 2, count: 3)
        try drive.answerCommit(2)
        #expect(drive.next(3) == ["commit 4 ahead", "deliver 4 to b", "wait"])
    }

    @Test func `batches whose answers come in the wrong order are delivered in their own`() throws {
        var drive = try driveOfTwo()
        try drive.takeCommit(2)
        try drive.answerCommit(3)
        #expect(drive.next() == "wait")
        try drive.answerCommit(2)
        #expect(drive.next(3) == ["deliver 4 to b", "deliver 5 to c", "rest"])
    }

    @Test func `a batch ahead of one with another result is planned again, and none is sent ahead for a while`()
        throws
    {
        var drive = try driveOfTwo()
        try drive.writeElsewhere()
        try drive.answerCommit(2)
        #expect(drive.next() == "read 2")
        try drive.answerCommit(3)
        try drive.answerRead(2)
        #expect(drive.next(2) == ["commit 2", "wait"])
        try drive.answerCommit(2)
        #expect(drive.next(2) == ["read 3", "deliver 5 to b"])
        try drive.answerRead(3)
        #expect(drive.next() == "commit 3")
        try drive.answerCommit(3)
        #expect(drive.next(2) == ["deliver 6 to c", "rest"])
        #expect(Set(drive.nonces).count == drive.nonces.count, "another plan, another nonce")
        // Memory is not used for eight batches; the ninth may be followed.
        var followed: [Bool] = []
        for number in 4...13 {
            drive.submit("n", client: 1, from: Int64(number - 1))
            var word = drive.next()
            if word == "read \(number)" {
                try drive.answerRead(number)
                word = drive.next()
            }
            #expect(word == "commit \(number)")
            followed.append(drive.next() == "wait open")
            try drive.answerCommit(number)
            #expect(drive.next(2).last == "rest")
        }
        #expect(followed == [false, false, false, false, false, false, false, true, true, true])
    }

    @Test func `a failed batch is settled piece by piece once the one ahead is back, which is planned again`()
        throws
    {
        var drive = try driveOfTwo()
        drive.failCommit(2, lost)
        #expect(drive.next() == "wait")
        try drive.answerCommit(3)
        #expect(drive.next() == "pause 1")
        drive.resume()
        #expect(drive.next() == "read 4")
        try drive.answerRead(4)
        #expect(drive.next() == "commit 4")
        try drive.answerCommit(4)
        #expect(drive.next(3) == ["deliver 4", "deliver nothing to b", "read 3"])
        try drive.answerRead(3)
        #expect(drive.next() == "commit 3")
        try drive.answerCommit(3)
        #expect(drive.next(2) == ["deliver 5 to c", "rest"])
        #expect(drive.unsettled == [])
    }

    @Test func `a batch written before a failure is delivered before the pieces`() throws {
        var drive = try driveOfTwo()
        drive.submit("d", client: 3, from: 2, count: 3)
        try drive.answerCommit(2)
        drive.failCommit(3, lost)
        #expect(drive.next(2) == ["read 3", "deliver 4 to b"])
        drive.failRead(3, lost)
        #expect(drive.next() == "pause 1")
    }

    @Test func `an unavailable store is tried a number of times, and then the submitters are told`() throws {
        var drive = try LaneDrive { $0.attemptsMax = 3 }
        drive.submit("a", client: 1, from: 1)
        #expect(drive.next() == "read 1")
        drive.failRead(1, lost)
        #expect(drive.next() == "pause 1")
        drive.resume()
        #expect(drive.next() == "read 2")
        drive.failRead(2, lost)
        #expect(drive.next() == "pause 2")
        drive.resume()
        #expect(drive.next() == "read 3")
        drive.failRead(3, lost)
        #expect(drive.next(3) == ["gave up after 3", "deliver nothing to a", "rest"])
        #expect(drive.outcomes["a"] == .unavailable)
    }

    @Test func `a service that stops does not try again`() throws {
        var drive = try LaneDrive()
        drive.submit("a", client: 1, from: 1)
        #expect(drive.next() == "read 1")
        drive.failRead(1, lost)
        #expect(drive.next() == "pause 1")
        drive.resume(goesOn: false)
        #expect(drive.next(3) == ["gave up after 1", "deliver nothing to a", "rest"])
    }

    @Test func `an order that moves under each plan is treated as an unavailable store`() throws {
        var drive = try LaneDrive()
        drive.submit("a", client: 1, from: 1)
        var word = drive.next()
        var plans = 0
        while word == "read 1", plans < 100 {
            try drive.answerRead(1)
            #expect(drive.next() == "commit 1")
            try drive.writeElsewhere()
            try drive.answerCommit(1)
            plans += 1
            word = drive.next()
        }
        #expect(word == "pause 1" && plans == 9)
        drive.resume()
        #expect(drive.next() == "read 2")
    }

    @Test func `transactions that the store cannot store are searched for, and refused alone`() throws {
        var drive = try LaneDrive()
        drive.submit("a", client: 1, from: 1)
        drive.submit("b", client: 2, from: 1, count: 2)
        #expect(drive.next() == "read 1")
        try drive.answerRead(1)
        #expect(drive.next() == "commit 1")
        drive.failCommit(1, StoreError(.data, "poison"))
        #expect(drive.next(2) == ["halve at 1", "read 2"])
        try drive.answerRead(2)
        #expect(drive.next() == "commit 2")
        try drive.answerCommit(2)
        // From memory, now that it is alone; a plan with refusals is based on the stored state.
        #expect(drive.next(2) == ["deliver 1", "read 3"])
        try drive.answerRead(3)
        #expect(drive.next() == "commit 3")
        drive.failCommit(3, StoreError(.data, "poison"))
        var words: [String] = []
        for _ in 0..<60 {
            let word = drive.next()
            words.append(word)
            if word == "rest" { break }
            guard let flight = word.split(separator: " ").last.flatMap({ Int($0) }) else { continue }
            if word.hasPrefix("read") { try drive.answerRead(flight) }
            guard word.hasPrefix("commit") else { continue }
            if drive.isCreating(flight, 2_001) {
                drive.failCommit(flight, StoreError(.data, "poison"))
            } else {
                try drive.answerCommit(flight)
            }
        }
        #expect(words.filter { $0.contains(" at ") } == ["singleOut at 1", "repeatOnce at 1", "refuse at 1"])
        #expect(words.suffix(2) == ["deliver nothing to a b", "rest"])
        guard case .settled(2, let results)? = drive.outcomes["b"] else {
            Issue.record("not settled: \(String(describing: drive.outcomes["b"]))")
            return
        }
        #expect(results.map(\.rejection?.code) == [.internalRejected, nil])
        #expect(drive.outcomes["a"]?.firstRefusal == nil)
    }

    @Test func `entries that exceed a batch are committed next, and their push is answered together`() throws {
        var drive = try LaneDrive { $0.plan.batchWorkMax = 1 }
        try drive.remember(1)
        drive.submit("b", client: 1, from: 2, count: 3)
        #expect(drive.next(2) == ["commit 2", "wait"])
        try drive.answerCommit(2)
        #expect(drive.next() == "commit 3")
        try drive.answerCommit(3)
        #expect(drive.next(3) == ["commit 4", "deliver 2", "deliver 3"])
        try drive.answerCommit(4)
        #expect(drive.next(2) == ["deliver 4 to b", "rest"])
        guard case .settled(4, let results)? = drive.outcomes["b"] else {
            Issue.record("not settled")
            return
        }
        #expect(results.map(\.number) == [2, 3, 4])
    }

    @Test func `a change of an earlier push's creation is not refused when the creation comes along again`() throws {
        var drive = try LaneDrive()
        let create = [Desk.mutation("people", 7, .create(["name": .string("a")]))]
        let change = [Desk.mutation("people", 7, .update([NamedPatch("name", .set(.string("b")))]))]
        drive.submit("a", client: 1, from: 1, [create])
        #expect(drive.next() == "read 1")
        try drive.answerRead(1)
        #expect(drive.next() == "commit 1")
        try drive.answerCommit(1)
        #expect(drive.next(2) == ["deliver 1 to a", "rest"])
        // The answer was lost. Memory has the client, and not the record.
        drive.submit("again", client: 1, from: 1, [create, change])
        #expect(drive.next() == "read 2")
        try drive.answerRead(2)
        #expect(drive.next() == "commit 2")
        try drive.answerCommit(2)
        #expect(drive.next(2) == ["deliver 2 to again", "rest"])
        #expect(drive.outcomes["again"]?.refusals == [nil, nil])
    }

    @Test func `a change of an existing record is not refused when a user may not create it`() throws {
        var drive = try LaneDrive()
        let room = [Desk.mutation("rooms", 7, .create(["members": .array([.string("ann")])]))]
        drive.submit("a", client: 1, from: 1, [room])
        #expect(drive.next() == "read 1")
        try drive.answerRead(1)
        #expect(drive.next() == "commit 1")
        try drive.answerCommit(1)
        #expect(drive.next(2).last == "rest")
        // Without its creator among the members it is refused before its existence is checked.
        let refused = [Desk.mutation("rooms", 7, .create(["members": .array([])]))]
        let change = [Desk.mutation("rooms", 7, .update([NamedPatch("title", .set(.string("b")))]))]
        drive.submit("b", client: 1, from: 2, [refused, change])
        #expect(drive.next() == "read 2")
        try drive.answerRead(2)
        #expect(drive.next() == "commit 2")
        try drive.answerCommit(2)
        #expect(drive.next(2).last == "rest")
        #expect(drive.outcomes["b"]?.refusals == [.invalid, nil])
    }

    @Test func `a read of another order returns its lock, and everything is read again`() throws {
        var drive = try LaneDrive()
        try drive.remember(1)
        try drive.writeElsewhere()
        drive.submit("b", client: 2, from: 1)
        #expect(drive.next() == "read 2")
        let turn = NotedTurn()
        try drive.answerRead(2, under: turn)
        #expect(drive.next(2) == ["end", "read 2"])
        try drive.answerRead(2)
        #expect(drive.next() == "commit 2")
    }
}

private final class NotedTurn: Turn {
    func end() async {}
}
