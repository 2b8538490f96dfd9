import Foundation
import TidemarkCommandLine

/// The content of the demo: recorded events until there are enough messages.
struct ChatScript: Sendable {
    /// The most bytes of a file for `--from`.
    static let fileBytesMax = 256 * 1024 * 1024

    let events: [ChatEvent]

    /// Takes events in order until `messages` of them are messages. If the recording is too short, it starts over with
    /// other days and names.
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

    /// The built-in recording, `ubuntu-irc.txt`: five days of #ubuntu, 1,950 events.
    ///
    /// It comes from the public #ubuntu IRC logs as published with "A Large-Scale Corpus for Conversation
    /// Disentanglement" (Kummerfeld et al., 2019), data licence CC-BY-4.0. It is shortened: long lines, and lines with
    /// addresses or coarse words, were left out. A line is `== ` and a day, or an event of that day: `HH:MM`, `=` for a
    /// message, `+` for a join or `-` for a leave, the nick, and the text.
    static var slice: [ChatEvent] {
        var day = ""
        return String(decoding: PackageResources.ubuntu_irc_txt, as: UTF8.self).split(separator: "\n").compactMap {
            line in
            guard line.hasPrefix("== ") else { return ChatEvent(sliceLine: line, day: day) }
            day = String(line.dropFirst(3))
            return nil
        }
    }

    /// Reads a recording from a file.
    ///
    /// - Throws: `CommandFailure` with the number of the line that cannot be read.
    static func file(_ path: String) throws -> [ChatEvent] {
        guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int,  // reported below
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
