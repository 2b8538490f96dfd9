package import TidemarkModel

/// A recorded course, repeated with the machine of this program.
package struct FlightReplay: Sendable {
    /// One event with the machine's answer.
    package struct Step: Sendable {
        /// The number of the line in the recording, from 1; it names the entry.
        package let entry: Int
        /// The milliseconds since its engine began.
        package let time: Milliseconds
        package let event: SyncEvent
        package let effects: [SyncEffect]
        /// The line itself, for values that are not part of the event.
        let fields: Fields
        /// The machine after the event.
        let machine: SyncMachine
        /// The first effect that differs from the recorded one.
        package let difference: String?

        /// True when connected, with nothing left to send or to receive.
        package var isAtRest: Bool {
            machine.isLive && machine.unanswered == 0 && machine.isDrained && !machine.isLoadingPush
                && machine.pushes.isEmpty && machine.pages.isEmpty && !machine.isLoadingPages
        }
    }

    /// A remark between steps.
    package enum Mark: Hashable, Sendable {
        /// An engine begins.
        case began
        /// Entries are missing here: this many cannot be replayed.
        case gap(Int)
        /// The device's date changed by this many milliseconds.
        case clock(Int64)
        /// The replayed machine has other members than the recorded one.
        case members([String])
    }

    /// The steps in their order; each mark precedes the step at its index.
    package private(set) var steps: [Step] = []
    package private(set) var marks: [(before: Int, entry: Int, time: Milliseconds, mark: Mark)] = []
    /// The number of entries in the recording, including those that could not be replayed.
    package private(set) var entries = 0

    private var machine: SyncMachine?
    private var lastSegment: Int64?
    private var skipped = 0

    /// - Parameter until: the last entry to replay; `nil` for all.
    package init(_ recording: Recording, until: Int? = nil) {
        for (index, line) in recording.lines.enumerated() where index < until ?? .max {
            take(line.line, line.time, entry: index + 1)
        }
        if skipped > 0 { mark(.gap(skipped), recording.lines.count, recording.lines.last?.time ?? 0) }
    }

    /// True when each entry could be replayed, with the recorded effects.
    package var isSame: Bool {
        steps.allSatisfy { $0.difference == nil }
            && marks.allSatisfy { if case .members = $0.mark { false } else { true } }
    }

    private mutating func mark(_ mark: Mark, _ entry: Int, _ time: Milliseconds) {
        marks.append((steps.count, entry, time, mark))
    }

    private mutating func take(_ line: Recording.Line, _ time: Milliseconds, entry: Int) {
        switch line {
        case .segment(let number):
            if let lastSegment, number != lastSegment &+ 1 { machine = nil }
            lastSegment = number
        case .members(let fields, let timing, let isNew):
            take(fields, timing, isNew, time, entry)
        case .clock(let moved): mark(.clock(moved), entry, time)
        case .cut, .torn:
            machine = nil
            skipped += 1
            entries += 1
        case .entry(let fields, let effects):
            entries += 1
            guard var machine else { return skipped += 1 }
            // An entry that cannot be parsed ends the replay until the next members.
            guard let event = try? EventReader(fields: fields).event() else {
                self.machine = nil
                return skipped += 1
            }
            let answers = machine.on(event, now: time)
            self.machine = machine
            steps.append(
                Step(
                    entry: entry, time: time, event: event, effects: answers, fields: fields, machine: machine,
                    difference: Self.difference(recorded: effects, EffectDigest.words(answers))))
        }
    }

    private mutating func take(_ fields: Fields, _ recordedTiming: Fields, _ isNew: Bool, _ time: Int64, _ entry: Int) {
        if skipped > 0 { mark(.gap(skipped), entry, time) }
        skipped = 0
        if isNew {
            mark(.began, entry, time)
        } else if let machine {
            let others = Self.others(machine.recordedMembers, fields)
            if !others.isEmpty { mark(.members(others), entry, time) }
        }
        var timing = EngineTiming()
        var all = MachineMembers(reading: recordedTiming)
        timing.members(&all)
        machine = SyncMachine.replaying(fields, timing).machine
    }

    private static func difference(recorded: [String], _ replayed: [String]) -> String? {
        guard recorded != replayed else { return nil }
        let index = zip(recorded, replayed).prefix { $0 == $1 }.count
        func word(_ words: [String]) -> String { index < words.count ? words[index] : "nothing" }
        return "\(word(recorded)) was recorded, but the replay gave \(word(replayed))"
    }

    /// Returns the names of members that differ. The text of a failure and the ids of a page request are not recorded.
    private static func others(_ replayed: Fields, _ recorded: Fields) -> [String] {
        replayed.entries.filter { entry in
            !["phase", "pages"].contains(entry.name) && recorded[entry.name].map { $0 != entry.value } ?? false
        }.map(\.name)
    }
}
