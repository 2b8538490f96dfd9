import TidemarkModel
import TidemarkWire

/// Detects errors in the order of a course: numbers and cursors that go back, acknowledgements of frames that never
/// arrived.
struct FlightOrder: Sendable {
    /// The position of the copy, as the hash of its cursor; `nil` if it is unknown.
    private(set) var cursor: String?
    /// The cursors that the copy has had, with their index.
    private var had: [String: Int] = [:]
    /// The cursor after the received frames are applied.
    private var coming: String?
    private var client: ClientID?
    private var connection: Int64 = 0
    private var highest: Int64 = 0
    private var frames: Int64 = 0

    /// Forgets the positions, because entries are missing.
    mutating func forget() { (cursor, coming, had) = (nil, nil, [:]) }

    mutating func look(_ step: FlightReplay.Step) -> [(kind: FlightFinding.Kind, words: String)] {
        var found: [(kind: FlightFinding.Kind, words: String)] = []
        switch step.event {
        case .opened(_, let start): opened(start, &found)
        case .arrived: for message in step.messages { came(message, &found) }
        case .applied: if let coming { reach(coming) }
        case .applyFailed, .forkFound: coming = nil
        case .pushLoaded(let entries):
            guard let first = entries.first, let last = entries.last, step.effects.contains(where: \.isPush) else {
                break
            }
            if first.number <= step.machine.settledThrough {
                found.append(
                    (
                        .invariant,
                        "the write \(first.number) is sent, but everything up to \(step.machine.settledThrough) is settled"
                    ))
            }
            highest = max(highest, last.number)
        default: break
        }
        for case .send(let bytes) in step.effects where EffectDigest.messageKind(bytes) == "ack" {
            // The message is this client's own.
            guard case .ack(let ack)? = try? ClientMessage.decode(bytes), ack.frames > frames else { continue }
            found.append((.invariant, "\(ack.frames) frames are acknowledged, but \(frames) were received"))
        }
        return found
    }

    private mutating func opened(_ start: ConnectionStart, _ found: inout [(kind: FlightFinding.Kind, words: String)]) {
        frames = 0
        coming = nil
        if client == start.client {
            if start.connection <= connection {
                found.append(
                    (.wentBack, "connection \(start.connection) follows connection \(connection) of the same client"))
            }
            if let written = start.written, written < highest {
                found.append((.wentBack, "\(written) writes were made, but number \(highest) was sent before"))
            }
        } else {
            highest = 0
        }
        (client, connection) = (start.client, start.connection)
        if let cursor, start.cursor != cursor, let before = start.cursor.flatMap({ had[$0] }), let now = had[cursor],
            before < now
        {
            found.append((.wentBack, "the copy is at \(start.cursor ?? "nothing"), but was at \(cursor) before"))
        }
        cursor = start.cursor
    }

    private mutating func came(_ message: ServerMessage, _ found: inout [(kind: FlightFinding.Kind, words: String)]) {
        switch message {
        case .welcome(let welcome):
            coming = welcome.cursor
            cursor = welcome.cursor
        case .changes(let changes):
            frames += 1
            if let expected = coming ?? cursor, changes.from != expected {
                found.append((.invariant, "a frame continues \(changes.from), but the copy is at \(expected)"))
            }
            coming = changes.cursor
        case .page, .history, .compared, .authOK, .error, .goAway, .ephemeral, .unknownExtension: break
        }
    }

    private mutating func reach(_ cursor: String) {
        self.cursor = cursor
        if had[cursor] == nil { had[cursor] = had.count }
    }
}

extension SyncEffect {
    fileprivate var isPush: Bool {
        if case .send(let bytes) = self { EffectDigest.messageKind(bytes) == "push" } else { false }
    }
}
