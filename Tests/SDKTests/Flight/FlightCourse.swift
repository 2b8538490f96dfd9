import Testing
import TidemarkLock
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// A machine on a bench whose course is recorded.
struct FlightCourse {
    var bench: MachineBench
    let recorder: FlightRecorder
    /// The difference between the device's date and the bench's time.
    let ahead = Lock<Milliseconds>(1_760_000_000_000)

    init(_ timing: EngineTiming = EngineTiming(), _ recording: FlightRecording = FlightRecording()) {
        bench = MachineBench(timing: timing)
        let now = Lock(bench.now)
        recorder = FlightRecorder(of: nil, recording, app: "Bench 1.0") { [ahead] in now.current + ahead.current }
        bench.noting = { [recorder] event, time, effects, machine in
            now.set(time)
            recorder.note(event, now: time, effects, machine)
        }
        recorder.began(bench.machine, now: bench.now)
    }

    mutating func run(_ body: (inout MachineBench) -> Void) { body(&bench) }

    /// Feeds an event to the machine, and carries no effect out.
    mutating func feed(_ event: SyncEvent) {
        let effects = bench.machine.on(event, now: bench.now)
        bench.noting?(event, bench.now, effects, bench.machine)
    }

    func replay(until: Int? = nil) throws -> FlightReplay {
        FlightReplay(try Recording(lines: recorder.lines()), until: until)
    }

    /// A varied course, by a seed.
    static func varied(_ seed: UInt64, _ recording: FlightRecording = FlightRecording()) -> FlightCourse {
        var course = FlightCourse(EngineTiming(), recording)
        var dice = Dice(seed: seed)
        course.run { $0.on(.start) }
        for number in 0..<120 {
            course.run { bench in Self.step(&bench, UInt64(number), &dice) }
        }
        return course
    }

    private static func step(_ bench: inout MachineBench, _ number: UInt64, _ dice: inout Dice) {
        switch dice.below(16) {
        case 0, 1:
            bench.connect(
                settledThrough: Int64(dice.below(4)), ephemerals: EphemeralLimits(),
                state: dice.below(6) == 0 ? .rewound : .ok, answersCompare: dice.below(2) == 0,
                connection: Int64(number) + 1)
        case 2: bench.on(.closed(code: [1006, 4400, 4401, 4503][Int(dice.below(4))], reason: "cut"))
        case 3:
            bench.outbox.append(number + 1)
            bench.on(.wrote)
        case 4: bench.settle(Int64(bench.outbox.count))
        case 5: bench.pass(Int64(1 + dice.below(90_000)))
        case 6: bench.on(.applyFailed(SyncFailure(.databaseFailed, "SQLite error 11")))
        case 7:
            let scope = ScopeID("room \(dice.below(5))")
            bench.unfilled.append(PageRequest(id: 0, scope: scope, since: 1, collection: "notes", limit: 50))
            bench.on(.wantsPages)
        case 8:
            for request in bench.machine.pages.values.sorted(by: { $0.id < $1.id }).prefix(2) {
                bench.receive(
                    .page(
                        .init(
                            id: request.id, scope: request.scope, since: 1, collection: "notes", changes: [], next: nil)
                    ))
            }
        case 9: bench.on(.sync(round: Int64(number)))
        case 10: bench.on(.history(.note(UInt64(dice.below(9)))))
        case 11: bench.on(.network([.lost, .regained, .changed][Int(dice.below(3))]))
        case 12: bench.on(.watch([ScopeID("room 1"), ScopeID("room \(dice.below(9))")]))
        case 13: bench.receive(.error(ErrorMessage(.overloaded, "busy", retryAfter: 3_000)))
        case 14: bench.on(.arrived([Array("{\"t\":\"changes\",\"g\":7}".utf8)]))
        default: bench.on(.tokenRefreshed("a secret \(number)"))
        }
    }
}
