package import TidemarkModel

/// A parsed recording: lines of a ring or of a report, oldest first.
package struct Recording: Sendable {
    enum Line: Sendable {
        /// A segment begins, or continues the one before.
        case segment(Int64)
        /// The members of a machine; `isNew` if an engine begins.
        case members(Fields, timing: Fields, isNew: Bool)
        case entry(Fields, effects: [String])
        /// The device's date changed by this many milliseconds.
        case clock(Int64)
        /// An entry of this many bytes was too large.
        case cut(Int64)
        /// The line cannot be parsed.
        case torn
    }

    /// The lines with the engine's time, if they have one.
    private(set) var lines: [(time: Milliseconds, line: Line)] = []
    /// The device's dates at which the engines began.
    package private(set) var begins: [Milliseconds] = []
    /// The name and version of the app; the last that was recorded.
    package private(set) var app: String?
    /// The number of lines that cannot be parsed: those being written when a process ended.
    package private(set) var torn = 0

    /// - Throws: `MalformedRecording` if no line is one of a recording.
    package init(lines texts: [String]) throws {
        for text in texts { read(text) }
        guard lines.contains(where: { if case .torn = $0.line { false } else { true } }) else {
            throw MalformedRecording("none of its lines belongs to a recording")
        }
    }

    /// Returns the lines of a ring's file, oldest first.
    package static func lines(ofFile bytes: [UInt8]) -> [String] { FlightLines(bytes).lines }

    private mutating func read(_ text: String) {
        // Each line that cannot be parsed is counted.
        guard let fields = try? JSONReader.read(Array(text.utf8), { try $0.fields() }), let line = line(fields) else {
            torn += 1
            return lines.append((lines.last?.time ?? 0, .torn))
        }
        lines.append((fields["t"].flatMap(Int64.init(recorded:)) ?? 0, line))
    }

    private mutating func line(_ fields: Fields) -> Line? {
        if case .string(let app)? = fields["app"] { self.app = app }
        if case .integer? = fields["flight"], case .integer(let number)? = fields["segment"] { return .segment(number) }
        // All other lines need the time.
        guard let time = fields["t"].flatMap(Int64.init(recorded:)), time >= 0 else { return nil }
        if case .object(let members)? = fields["state"], case .object(let timing)? = fields["timing"] {
            let begin = fields["begin"].flatMap(Int64.init(recorded:))
            if let begin { begins.append(begin.subtractingReportingOverflow(time).partialValue) }
            return .members(members, timing: timing, isNew: begin != nil)
        }
        if let moved = fields["clock"].flatMap(Int64.init(recorded:)) { return .clock(moved) }
        if let bytes = fields["cut"].flatMap(Int64.init(recorded:)) { return .cut(bytes) }
        guard case .string? = fields["e"] else { return nil }
        return .entry(fields, effects: fields["f"].flatMap([String].init(recorded:)) ?? [])
    }
}
