import Foundation

/// What the demo plays: recorded events until there are enough messages.
struct ChatScript: Sendable {
    /// Bytes of a file that `--from` may name.
    static let fileBytesMax = 256 * 1024 * 1024

    let events: [ChatEvent]

    /// Takes events in order until `messages` of them are messages; starts over with other days and names when the
    /// recording is too short.
    ///
    /// - Throws: `CommandFailure` when there is no message at all.
    init(_ recording: [ChatEvent], messages: Int) throws {
        guard recording.contains(where: { $0.kind == .message }) else {
            throw CommandFailure("there is no message in the recording")
        }
        var events: [ChatEvent] = []
        var round = 0
        var count = 0
        while count < messages {
            for var event in recording where count < messages {
                if round > 0 {
                    event.day += "/\(round + 1)"
                    event.nick += "_\(round + 1)"
                }
                if event.kind == .message { count += 1 }
                events.append(event)
            }
            round += 1
        }
        self.events = events
    }

    /// The recording that is built in.
    static var slice: [ChatEvent] {
        ChatSlice.days.flatMap { day, lines in
            lines.split(separator: "\n").compactMap { ChatEvent(sliceLine: $0, day: day) }
        }
    }

    /// A recording of one's own.
    ///
    /// - Throws: `CommandFailure` with the number of the line that cannot be read.
    static func file(_ path: String) throws -> [ChatEvent] {
        guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int,  // told below
            size <= fileBytesMax, let bytes = FileManager.default.contents(atPath: path)
        else { throw CommandFailure("cannot read \(path), or it is larger than \(fileBytesMax) bytes") }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        var events: [ChatEvent] = []
        events.reserveCapacity(lines.count)
        for (index, line) in lines.enumerated() where !line.allSatisfy(\.isWhitespace) {
            do {
                events.append(try ChatEvent(json: line))
            } catch {
                throw CommandFailure("\(path), line \(index + 1): \(error)")
            }
        }
        return events
    }
}
