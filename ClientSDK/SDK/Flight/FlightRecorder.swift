import TidemarkLock
package import TidemarkModel

/// The settings of a store's recording of its synchronisation, which `tide replay` replays.
///
///     var environment = StoreEnvironment.system
///     environment.recording.maxBytes = 1 << 20
public struct FlightRecording: Hashable, Sendable {
    /// The bytes of the recording, in a file beside the database; the oldest entries are overwritten. 0 for no
    /// recording, otherwise at least 64 KiB.
    public var maxBytes = 256 << 10
    /// True to record field values and ephemeral messages too: for devices of the app's own developers.
    public var recordsValues = false

    /// Creates the default: 256 KiB without values.
    public init() {}
}

/// Records the events of a store's machine and its answers in a ring: see FLIGHT.md.
package final class FlightRecorder: Sendable {
    /// The difference from one entry to the next from which the clock is treated as changed.
    private static let clockMax: Milliseconds = 2_000
    /// The number of entries after which it is tried again whether the members fit.
    private static let membersRetry = 16

    private struct State {
        var ring: FlightRing?
        /// The difference between the date and the engine's time.
        var ahead: Milliseconds?
        /// The number of entries since the members of the machine did not fit, as with thousands of watched scopes;
        /// `nil` if they fit.
        var withoutMembers: Int?
        /// The entries of an idle connection, which are written with the next other one.
        var idle: [UInt8] = []
    }

    private let path: String?
    private let options: FlightRecording
    private let app: String?
    private let date: @Sendable () -> Milliseconds
    private let state = Lock(State())

    /// - Parameters:
    ///   - path: the path of the database; `nil` for memory.
    ///   - date: returns milliseconds since 1970.
    package init(
        of path: String?, _ options: FlightRecording = FlightRecording(), app: String? = nil,
        date: @escaping @Sendable () -> Milliseconds
    ) {
        self.path = path.map(Self.file(beside:))
        (self.options, self.app, self.date) = (options, app, date)
    }

    /// Returns the path of a database's recording.
    package static func file(beside database: String) -> String { "\(database).flight" }

    /// Records that an engine begins with a machine.
    package func began(_ machine: SyncMachine, now: Milliseconds) {
        guard options.maxBytes > 0 else { return }
        let members = members(machine, now: now, isNew: true)
        let date = date()
        state.withLock { state in
            // Without a file there is no recording: the next engine tries again.
            if state.ring == nil { state.ring = try? FlightRing(path: path, bytes: options.maxBytes) }
            state.ahead = date - now
            let lines = state.idle + members
            state.idle = []
            if state.ring?.append(lines) != true { turn(&state, now: now, members: lines) }
        }
    }

    /// Records the machine's answer to an event, before any of its effects is carried out. Entries that show only an
    /// idle connection wait in memory for the next other one: an idle device writes nothing.
    ///
    /// - Parameter machine: the machine after the event.
    package func note(_ event: SyncEvent, now: Milliseconds, _ effects: [SyncEffect], _ machine: SyncMachine) {
        guard options.maxBytes > 0 else { return }
        let line = line(event, now: now, effects)
        let date = date()
        state.withLock { state in
            guard let segmentBytes = state.ring?.segmentBytes else { return }
            let lines = state.idle + clock(&state, date: date, now: now) + line
            state.idle = lines.count <= segmentBytes / 8 && event.isIdle(effects) ? lines : []
            if state.idle.isEmpty { append(lines, &state, now: now, machine) }
        }
    }

    /// Returns the lines of the recording, oldest first; empty when nothing is recorded.
    package func lines() -> [String] {
        let (contents, idle) = state.withLock { ($0.ring?.contents, $0.idle) }
        let waiting = idle.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        return contents.map { FlightLines($0).lines + waiting } ?? []
    }

    // MARK: Lines

    private func append(_ line: [UInt8], _ state: inout State, now: Milliseconds, _ machine: SyncMachine) {
        guard let segmentBytes = state.ring?.segmentBytes else { return }
        if let count = state.withoutMembers {
            state.withoutMembers = count + 1
            let members = (count + 1) % Self.membersRetry == 0 ? members(machine, now: now, isNew: false) : []
            // The members follow this event; the event itself cannot be replayed without those before it.
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

    /// Begins a segment with members from which the replay may begin.
    private func turn(_ state: inout State, now: Milliseconds, members: [UInt8]) {
        let date = date()
        state.ring?.turn { number in
            var head = JSONWriter(capacity: 128)
            head.integer("{\"flight\":1,\"segment\":", number)
            head.integer(",\"t\":", now)
            head.integer(",\"date\":", date)
            if let app {
                head.string(",\"app\":", app)
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

    /// Returns a line that notes the number of bytes left out.
    private func cut(_ bytes: Int, now: Milliseconds) -> [UInt8] {
        var line = JSONWriter(capacity: 48)
        line.integer("{\"t\":", now)
        line.integer(",\"cut\":", Int64(bytes))
        return finished(&line)
    }

    /// Returns a line that notes a change of the date; nothing without one.
    private func clock(_ state: inout State, date: Milliseconds, now: Milliseconds) -> [UInt8] {
        let ahead = date - now
        defer { state.ahead = ahead }
        guard let before = state.ahead, abs(ahead - before) > Self.clockMax else { return [] }
        var line = JSONWriter(capacity: 48)
        line.integer("{\"t\":", now)
        line.integer(",\"clock\":", ahead - before)
        return finished(&line)
    }

    private func line(_ event: SyncEvent, now: Milliseconds, _ effects: [SyncEffect]) -> [UInt8] {
        var start = JSONWriter(capacity: 384)
        start.integer("{\"t\":", now)
        var line = EventWriter(start, keepsValues: options.recordsValues, effects: effects)
        line.write(event)
        return line.finished(effects)
    }

    private func members(_ machine: SyncMachine, now: Milliseconds, isNew: Bool) -> [UInt8] {
        var line = JSONWriter(capacity: 3_072)
        line.integer("{\"t\":", now)
        if isNew {
            line.integer(",\"begin\":", date())
            if let app {
                line.string(",\"app\":", app)
            }
        }
        line.fields(",\"timing\":", machine.timing.recordedMembers)
        line.fields(",\"state\":", machine.recordedMembers)
        return finished(&line)
    }

    private func finished(_ line: inout JSONWriter) -> [UInt8] {
        line.literal("}\n")
        return line.bytes
    }
}

extension SyncEvent {
    /// True when the event and its effects show only that the connection is idle.
    fileprivate func isIdle(_ effects: [SyncEffect]) -> Bool {
        switch self {
        // Looks at what is to be sent and fetched, the request for a sign of life, and their answers.
        case .tick, .pushLoaded, .pagesLoaded, .arrived:
            effects.allSatisfy { effect in
                switch (self, effect) {
                case (.tick, .send), (.tick, .loadPush), (.tick, .loadPages), (_, .wake): true
                default: false
                }
            }
        default: false
        }
    }
}

/// The lines in a ring's bytes.
struct FlightLines {
    /// The lines, oldest first. A segment without its first line is left out.
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
