import TidemarkModel

/// One action of the demo, in the order of the script. Devices are numbered from 0.
enum Cue: Hashable, Sendable {
    /// The owner creates a conversation with itself as the only participant.
    case open(Int, LocalID, name: String)
    /// The owner adds a device's user, who may write when the conversation has arrived there.
    case admit(Int, LocalID, owner: Int)
    /// The owner removes a device's user, whose copy of the conversation is then deleted.
    case dismiss(Int, LocalID, owner: Int)
    /// The owner adds or removes a nick: the membership of a user without a device.
    case enlist(nick: String, LocalID, owner: Int, isPresent: Bool)
    /// A device writes a message; `order` counts the messages of the whole script.
    case say(Int, Line)

    /// A message of the script.
    struct Line: Hashable, Sendable {
        let conversation: LocalID
        let nick: String
        let text: String
        let order: Int
    }
}

/// Turns recorded events into cues: it assigns nicks to devices and owners to conversations, and admits members first.
///
/// Pure: the same events, devices and seed give the same cues.
struct Casting: Sendable {
    private struct Conversation {
        let id: LocalID
        let owner: Int
        /// The present nicks, each with its device.
        var present: [String: Int] = [:]
        var admitted: Set<Int>
    }

    private let devices: Int
    private var generator: SplitMix
    private var parts: [String: Int] = [:]
    private var conversations: [String: Conversation] = [:]
    private var opened = 0
    private var said = 0

    init(devices: Int, seed: UInt64) {
        self.devices = max(1, devices)
        generator = SplitMix(seed: seed)
    }

    /// Returns the cues of one event.
    mutating func cues(for event: ChatEvent) -> [Cue] {
        var cues: [Cue] = []
        let device = part(of: event.nick)
        var conversation = conversations[event.day] ?? open(event.day, &cues)
        switch event.kind {
        case .join: enter(event.nick, device, &conversation, &cues)
        case .leave: leave(event.nick, &conversation, &cues)
        case .message:
            enter(event.nick, device, &conversation, &cues)
            cues.append(
                .say(
                    device,
                    Cue.Line(conversation: conversation.id, nick: event.nick, text: event.text, order: said)))
            said += 1
        }
        conversations[event.day] = conversation
        return cues
    }

    /// Assigns nicks to devices in the order in which they appear.
    private mutating func part(of nick: String) -> Int {
        if let device = parts[nick] { return device }
        let device = parts.count % devices
        parts[nick] = device
        return device
    }

    private mutating func open(_ day: String, _ cues: inout [Cue]) -> Conversation {
        let owner = opened % devices
        opened += 1
        let id = UniqueID(
            high: generator.next() & 0xffff_ffff_ffff_0fff | 0x4000, low: generator.next() >> 2 | 1 << 63)
        cues.append(.open(owner, id, name: day))
        return Conversation(id: id, owner: owner, admitted: [owner])
    }

    private func enter(_ nick: String, _ device: Int, _ conversation: inout Conversation, _ cues: inout [Cue]) {
        if conversation.admitted.insert(device).inserted {
            cues.append(.admit(device, conversation.id, owner: conversation.owner))
        }
        if conversation.present.updateValue(device, forKey: nick) == nil {
            cues.append(.enlist(nick: nick, conversation.id, owner: conversation.owner, isPresent: true))
        }
    }

    /// Removes a nick. A device's user leaves with the last of its nicks; the owner stays.
    private func leave(_ nick: String, _ conversation: inout Conversation, _ cues: inout [Cue]) {
        guard let device = conversation.present.removeValue(forKey: nick) else { return }
        cues.append(.enlist(nick: nick, conversation.id, owner: conversation.owner, isPresent: false))
        guard device != conversation.owner, !conversation.present.values.contains(device) else { return }
        conversation.admitted.remove(device)
        cues.append(.dismiss(device, conversation.id, owner: conversation.owner))
    }
}
