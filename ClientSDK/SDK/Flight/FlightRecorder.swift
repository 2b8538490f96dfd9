import TidemarkLock
package import TidemarkModel

/// What a store records of its synchronisation, to be replayed by `tide replay`.
///
///     var environment = StoreEnvironment.system
///     environment.recording.bytesMax = 1 << 20
public struct FlightRecording: Hashable, Sendable {
    /// Bytes of the recording, in a file beside the database; the oldest entries go. 0 for none, and at least 64 KiB otherwise.
    public var bytesMax = 256 << 10
    /// Records values of fields too, and what is said to others: for a device of the app's own developers.
    public var keepsValues = false

    /// 256 KiB without values.
    public init() {}
}

/// Records what the machine of a store is told and what it answers, in a ring: see FLIGHT.md.
package final class FlightRecorder: Sendable {
    /// The form of the lines.
    static let version = 1
    /// A clock that differs by so much from one entry to the next was set.
    private static let clockMax: Milliseconds = 2_000
    /// Entries after which it is tried again whether the members fit.
    private static let membersRetry = 16

    private struct State {
        var ring: FlightRing?
        /// How far the date is ahead of the engine's time.
        var ahead: Milliseconds?
        /// Entries since the members of the machine did not fit, as of one that watches thousands of scopes; `nil` where they do.
        var withoutMembers: Int?
    }

    private let path: String?
    private let options: FlightRecording
    private let app: String?
    private let date: @Sendable () -> Milliseconds
    private let state = Lock(State())

    /// - Parameters:
    ///   - path: of the database; `nil` for memory.
    ///   - date: milliseconds since 1970.
    package init(
        of path: String?, _ options: FlightRecording = FlightRecording(), app: String? = nil,
        date: @escaping @Sendable () -> Milliseconds
    ) {
        self.path = path.map(Self.file(beside:))
        (self.options, self.app, self.date) = (options, app, date)
    }

    /// The name of a recording.
    package static func file(beside database: String) -> String { "\(database).flight" }

    /// An engine begins with a machine.
    package func began(_ machine: SyncMachine, now: Milliseconds) {
        guard options.bytesMax > 0 else { return }
        let members = members(machine, now: now, isNew: true)
        let date = date()
        state.withLock { state in
            // Without a file there is no recording: the next engine tries again.
            if state.ring == nil { state.ring = try? FlightRing(path: path, bytes: options.bytesMax) }
            state.ahead = date - now
            if state.ring?.append(members) != true { turn(&state, now: now, members: members) }
        }
    }

    /// The machine answered an event; nothing of the answer is carried out yet.
    ///
    /// - Parameter machine: as it is now.
    package func note(_ event: SyncEvent, now: Milliseconds, _ effects: [SyncEffect], _ machine: SyncMachine) {
        guard options.bytesMax > 0 else { return }
        let line = line(event, now: now, effects)
        let date = date()
        state.withLock { state in
            guard state.ring != nil else { return }
            noteClock(&state, date: date, now: now)
            append(line, &state, now: now, machine)
        }
    }

    /// The lines of the recording, oldest first; none where nothing is recorded.
    package func lines() -> [String] {
        let contents = state.withLock { $0.ring?.contents }
        return contents.map { FlightLines($0).lines } ?? []
    }

    // MARK: Lines

    private func append(_ line: [UInt8], _ state: inout State, now: Milliseconds, _ machine: SyncMachine) {
        guard let segmentBytes = state.ring?.segmentBytes else { return }
        if let count = state.withoutMembers {
            state.withoutMembers = count + 1
            let members = (count + 1) % Self.membersRetry == 0 ? members(machine, now: now, isNew: false) : []
            // Behind this event; the event itself is of no use without those before it.
            if !members.isEmpty, members.count < segmentBytes / 2 {
                state.withoutMembers = nil
                if state.ring?.append(members) != true { turn(&state, now: now, members: members) }
                return
            }
        }
        guard line.count <= segmentBytes / 4 else {
            let lines = cut(line.count, now: now) + members(machine, now: now, isNew: false)
            if state.ring?.append(lines) != true { turn(&state, now: now, members: lines) }
            return
        }
        guard state.ring?.append(line) != true else { return }
        turn(&state, now: now, members: line + members(machine, now: now, isNew: false))
    }

    /// Begins a segment with what the replay may begin with.
    private func turn(_ state: inout State, now: Milliseconds, members: [UInt8]) {
        let date = date()
        state.ring?.turn { number in
            var head = JSONWriter(capacity: 128)
            head.literal("{\"flight\":1,\"segment\":")
            head.integer(number)
            head.literal(",\"t\":")
            head.integer(now)
            head.literal(",\"date\":")
            head.integer(date)
            if let app {
                head.literal(",\"app\":")
                head.string(app)
            }
            return finished(&head)
        }
        if state.ring?.append(members) == true {
            state.withoutMembers = nil
        } else {
            _ = state.ring?.append(cut(members.count, now: now))
            state.withoutMembers = 0
        }
    }

    /// So many bytes are left out.
    private func cut(_ bytes: Int, now: Milliseconds) -> [UInt8] {
        var line = JSONWriter(capacity: 48)
        line.literal("{\"t\":")
        line.integer(now)
        line.literal(",\"cut\":")
        line.integer(Int64(bytes))
        return finished(&line)
    }

    private func noteClock(_ state: inout State, date: Milliseconds, now: Milliseconds) {
        let ahead = date - now
        defer { state.ahead = ahead }
        guard let before = state.ahead, abs(ahead - before) > Self.clockMax else { return }
        var line = JSONWriter(capacity: 48)
        line.literal("{\"t\":")
        line.integer(now)
        line.literal(",\"clock\":")
        line.integer(ahead - before)
        _ = state.ring?.append(finished(&line))
    }

    private func line(_ event: SyncEvent, now: Milliseconds, _ effects: [SyncEffect]) -> [UInt8] {
        var start = JSONWriter(capacity: 384)
        start.literal("{\"t\":")
        start.integer(now)
        var line = EventWriter(start, keepsValues: options.keepsValues, effects: effects)
        line.write(event)
        return line.finished(effects)
    }

    private func members(_ machine: SyncMachine, now: Milliseconds, isNew: Bool) -> [UInt8] {
        var line = JSONWriter(capacity: 3_072)
        line.literal("{\"t\":")
        line.integer(now)
        if isNew {
            line.literal(",\"begin\":")
            line.integer(date())
            if let app {
                line.literal(",\"app\":")
                line.string(app)
            }
        }
        line.literal(",\"timing\":")
        line.fields(machine.timing.recordedMembers)
        line.literal(",\"state\":")
        line.fields(machine.recordedMembers)
        return finished(&line)
    }

    private func finished(_ line: inout JSONWriter) -> [UInt8] {
        line.literal("}\n")
        return line.bytes
    }
}

/// The lines of a ring's bytes.
struct FlightLines {
    /// Oldest first. A segment without its first line is left out.
    private(set) var lines: [String] = []

    init(_ bytes: [UInt8]) {
        var segments: [(number: Int64, lines: [String])] = []
        for line in bytes.split(whereSeparator: { $0 == 0 || $0 == UInt8(ascii: "\n") }) {
            if let number = FlightRing.number(of: Array(line)) { segments.append((number, [])) }
            guard !segments.isEmpty else { continue }
            segments[segments.count - 1].lines.append(String(decoding: line, as: UTF8.self))
        }
        segments.sort { $0.number < $1.number }
        lines = segments.flatMap(\.lines)
    }
}
