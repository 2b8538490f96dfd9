import Testing
import TidemarkLock
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Faults in a recorded course are found, with the entry.
@Suite(.timeLimit(.minutes(5))) struct FlightJudgeTests {
    private func judged(_ course: FlightCourse) throws -> (judge: FlightJudge, replay: FlightReplay) {
        let replay = try course.replay()
        #expect(replay.isSame)
        return (FlightJudge(replay), replay)
    }

    private func started() -> FlightCourse {
        var course = FlightCourse()
        course.run { bench in
            bench.on(.start)
            bench.connect()
            bench.settle(0)
        }
        return course
    }

    @Test func `a course in which nothing goes wrong has no findings`() throws {
        var course = started()
        course.run { bench in
            bench.outbox = [1, 2]
            bench.on(.wrote)
            bench.receive(
                .changes(.make(from: "c1", to: "c2", [], settled: Settled(through: 2, outcomes: []))))
            bench.pass(300_000)
        }
        let (judge, replay) = try judged(course)
        #expect(judge.findings == [])
        #expect(replay.steps.last?.isAtRest == true)
    }

    @Test func `tokens that are refused each time are found, whether they are new or not`() throws {
        for isFresh in [true, false] {
            var course = started()
            let clean = course.recorder.lines().count
            course.run { bench in
                for number in 0..<5 {
                    bench.on(.closed(code: 4401, reason: "the token is not signed by a known secret"))
                    bench.pass(40_000)
                    var start = MachineBench.start
                    (start.connection, start.cursor) = (Int64(number) + 2, "c1")
                    bench.on(.opened(token: isFresh ? "t\(number)" : "t", start: start))
                }
            }
            let standing = try #require(try judged(course).judge.findings.last { $0.isStanding })
            #expect(standing.kind == .token && standing.entry == clean + 1 && standing.count == 5)
            #expect(standing.words.contains("not signed by a known secret"))
            #expect(standing.notes.first?.contains(isFresh ? "different tokens" : "the same token") == true)
        }
    }

    @Test func `a frame that the database refuses each time is named, and is no standstill once it is applied`() throws
    {
        var course = started()
        let frame = ServerMessage.changes(.make(from: "c1", to: "c2", [.note(1, seq: 5)])).encode()
        let malformed = SyncFailure(.databaseFailed, "SQLite error 11: database disk image is malformed")
        for number in 2...6 as ClosedRange<Int64> {
            course.run { $0.on(.closed(code: 1001, reason: "restart")) }
            course.run { $0.pass(60_000) }
            var (start, welcome) = (MachineBench.start, Welcome.make(state: .ok, cursor: "c1"))
            (start.connection, start.cursor) = (number, "c1")
            welcome.heartbeat = 25_000
            course.feed(.opened(token: "t", start: start))
            course.feed(.arrived([ServerMessage.welcome(welcome).encode()]))
            for answer in [SyncEvent.applied, .applied, .pushLoaded([]), .pagesLoaded([])] { course.feed(answer) }
            course.feed(.arrived([frame]))
            course.feed(.applyFailed(malformed))
        }
        let standing = try #require(try judged(course).judge.findings.last { $0.isStanding })
        #expect(standing.kind == .database && standing.words.contains("malformed") && standing.count == 5)
        #expect(standing.notes.first?.contains("the same frame") == true)
        course.run { bench in
            bench.pass(60_000)
            bench.connect()
            bench.settle(0)
        }
        #expect(try judged(course).judge.findings.allSatisfy { !$0.isStanding })
    }

    @Test(arguments: [true, false]) func `writes without an answer are named, and whether the server had them`(
        _ hadThem: Bool
    ) throws {
        var course = started()
        course.run { bench in
            bench.outbox = [1, 2]
            bench.on(.wrote)
        }
        let sent = course.recorder.lines().count
        course.run { bench in
            bench.on(.closed(code: 1006, reason: "cut"))
            bench.pass(60_000)
            bench.connect(settledThrough: hadThem ? 2 : 0)
            bench.settle(2)
        }
        let lost = try #require(try judged(course).judge.findings.first { $0.kind == .lostAnswer })
        #expect(lost.words.contains("1…2") && lost.entry == sent + 1 && !lost.isStanding)
        #expect(lost.notes.first?.contains(hadThem ? "the server had it" : "did not have it") == true)
    }

    @Test func `a connection that delivers nothing is named`() throws {
        var course = started()
        course.run { bench in
            bench.isAlive = false
            bench.outbox = [1]
            bench.on(.wrote)
            bench.pass(120_000)
        }
        let silence = try #require(try judged(course).judge.findings.first { $0.kind == .silence })
        #expect(silence.words.contains("server_silent"))
    }

    @Test func `a server that went back, a full disk, a clock that was set, and a withheld write are named`() throws {
        var course = started()
        course.run { bench in
            bench.on(.applyFailed(SyncFailure(.diskFull, "no room")))
            bench.pass(60_000)
            bench.connect(state: .resync)
            bench.settle(0)
        }
        course.ahead.withLock { $0 -= 86_400_000 }
        course.run { bench in
            bench.outbox = [1]
            bench.on(.wrote)
            for _ in 0..<5 {
                bench.on(.closed(code: 4400, reason: "the push cannot be served"))
                bench.pass(60_000)
                bench.connect()
                bench.settle(0)
            }
        }
        let findings = try judged(course).judge.findings
        for kind in [FlightFinding.Kind.diskFull, .rewind, .clock, .withheld] {
            #expect(findings.contains { $0.kind == kind }, "\(kind.rawValue)")
        }
        #expect(findings.first { $0.kind == .clock }?.words.contains("back by 24 h") == true)
    }

    @Test func `a foreign server is a standstill until the app connects in another way`() throws {
        var course = FlightCourse()
        course.run { bench in
            bench.on(.start)
            bench.connect(user: UserID("bob"))
        }
        #expect(try judged(course).judge.findings.last { $0.isStanding }?.kind == .refused)
        course.run { bench in
            bench.on(.start)
            bench.connect()
            bench.settle(0)
        }
        #expect(try judged(course).judge.findings.allSatisfy { !$0.isStanding })
    }

    @Test func `a restored file is detected by its cursor, its connections and its numbers`() throws {
        var course = started()
        course.run { bench in
            bench.receive(.changes(.make(from: "c1", to: "c2", [.note(1, seq: 5)])))
            bench.on(.closed(code: 1006, reason: "cut"))
            bench.pass(60_000)
            var start = MachineBench.start
            (start.connection, start.cursor) = (1, "c1")
            bench.on(.opened(token: "t", start: start))
        }
        #expect(try judged(course).judge.findings.count { $0.kind == .wentBack } == 2)
    }

    @Test func `a frame that does not continue the last one breaks an invariant`() throws {
        var course = started()
        course.run { $0.receive(.changes(.make(from: "c7", to: "c8", [.note(1, seq: 5)]))) }
        let broken = try #require(try judged(course).judge.findings.first { $0.kind == .invariant })
        #expect(broken.words.contains("c7") && broken.words.contains("c1"))
    }

    @Test func `a recording that ends inside the local database names the operation`() throws {
        var course = started()
        // Its answer never arrives: the process ends.
        course.feed(.arrived([ServerMessage.changes(.make(from: "c1", to: "c2", [.note(1, seq: 5)])).encode()]))
        let end = try #require(try judged(course).judge.findings.last)
        #expect(end.kind == .end && end.words.contains("apply 1 frame"))
    }

    @Test func `each event and each effect is described`() throws {
        for seed in 1...10 as ClosedRange<UInt64> {
            for step in try FlightCourse.varied(seed).replay().steps {
                #expect(!FlightWords.event(step).isEmpty)
                #expect(step.effects.allSatisfy { !FlightWords.effect($0).isEmpty })
            }
        }
    }
}
