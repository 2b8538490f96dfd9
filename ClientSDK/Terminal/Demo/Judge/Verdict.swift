import TidemarkModel

/// A message as the server or one device holds it.
struct HeldMessage: Hashable, Sendable {
    let id: LocalID
    let conversation: LocalID
    let author: String
    /// The server's number of its creation: the order that all share.
    let born: SequenceNumber
    /// The position of the message in the script.
    let order: Int64
    let text: String
}

/// A written message, as the demo remembers it.
struct WrittenMessage: Hashable, Sendable {
    let id: LocalID
    let conversation: LocalID
    let author: String
    let order: Int64
    let text: String
}

/// The data of one device at the end.
struct DeviceCopy: Sendable {
    let user: String
    let messages: [HeldMessage]
    /// The state of each conversation in its database.
    let conversations: [LocalID: ConversationState]
    /// The number of transactions that the server refused.
    let parked: Int
    /// The number of rows that differ from the server's state: pending, failed or conflicting.
    let unsettled: Int
}

/// The state of a conversation's record.
struct ConversationState: Hashable, Sendable {
    let name: String
    let members: Set<String>
}

/// Compares the written messages with the server's and with every device's. Pure.
struct Verdict: Hashable, Sendable {
    /// The most defects that are described.
    static let defectsTold = 10

    private(set) var messages = 0
    /// The deliveries of messages to devices that did not write them.
    private(set) var deliveries = 0
    private(set) var lost = 0
    private(set) var duplicated = 0
    private(set) var outOfOrder = 0
    /// The number of items that a device should not have, or has in another state than the server.
    private(set) var differing = 0
    private(set) var defects: [String] = []

    var isClean: Bool { lost == 0 && duplicated == 0 && outOfOrder == 0 && differing == 0 }

    init(
        written: [WrittenMessage], server: [HeldMessage], conversations: [LocalID: ConversationState],
        devices: [DeviceCopy]
    ) {
        messages = written.count
        judgeServer(server, written)
        let truth = Dictionary(grouping: server, by: \.conversation).mapValues { $0.sorted { $0.born < $1.born } }
        for device in devices { judge(device, truth, conversations) }
    }

    // MARK: The server

    private mutating func judgeServer(_ server: [HeldMessage], _ written: [WrittenMessage]) {
        let held = Dictionary(grouping: server, by: \.id)
        for message in written {
            switch held[message.id]?.first {
            case nil: lose("the server has no message \(message.order) of \(message.author)")
            case let found?:
                if found.text != message.text || found.conversation != message.conversation
                    || found.author != message.author
                {
                    lose("message \(message.order) of \(message.author) is another one at the server")
                }
            }
        }
        countRepeats(server, at: "the server")
        let known = Set(written.map(\.id))
        for message in server where !known.contains(message.id) {
            duplicated += 1
            tell("the server has a message that nobody wrote: \(message.id)")
        }
        for (conversation, messages) in Dictionary(grouping: server, by: \.conversation) {
            let ordered = messages.sorted { $0.born < $1.born }
            for (author, lines) in Dictionary(grouping: ordered, by: \.author) {
                for (earlier, later) in zip(lines, lines.dropFirst()) where later.order < earlier.order {
                    outOfOrder += 1
                    tell("\(conversation): \(author) wrote \(later.order) before \(earlier.order)")
                }
            }
        }
    }

    // MARK: A device

    private mutating func judge(
        _ device: DeviceCopy, _ truth: [LocalID: [HeldMessage]], _ conversations: [LocalID: ConversationState]
    ) {
        differing += device.parked + device.unsettled
        if device.parked > 0 { tell("\(device.user): \(device.parked) transactions were refused") }
        if device.unsettled > 0 { tell("\(device.user): \(device.unsettled) rows are not settled") }
        countRepeats(device.messages, at: device.user)
        let held = Dictionary(grouping: device.messages, by: \.conversation)
        for (id, state) in conversations {
            let isMember = state.members.contains(device.user)
            if device.conversations[id] != (isMember ? state : nil) {
                differing += 1
                tell("\(device.user): the record of conversation \(id) is not the server's")
            }
            let mine = held[id, default: []].sorted { $0.born < $1.born }
            judge(mine, isMember ? truth[id, default: []] : [], of: device.user)
        }
        for id in held.keys where conversations[id] == nil {
            differing += 1
            tell("\(device.user): holds messages of an unknown conversation \(id)")
        }
        deliveries += device.messages.count { $0.author != device.user }
    }

    private mutating func judge(_ mine: [HeldMessage], _ theirs: [HeldMessage], of user: String) {
        let byID = Dictionary(mine.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let expected = Set(theirs.map(\.id))
        for message in theirs {
            guard let copy = byID[message.id] else {
                lose("\(user) has no message \(message.order) of \(message.author)")
                continue
            }
            if copy != message, copy.born == message.born {
                differing += 1
                tell("\(user): message \(message.order) of \(message.author) is not the server's")
            }
        }
        for message in mine where !expected.contains(message.id) {
            differing += 1
            tell("\(user): holds message \(message.order) of \(message.author), which it may not see or nobody has")
        }
        let (ours, order) = (mine.map(\.id).filter(expected.contains), theirs.map(\.id).filter { byID[$0] != nil })
        for (left, right) in zip(ours, order) where left != right {
            outOfOrder += 1
            tell("\(user): another order than the server's at \(left)")
        }
    }

    // MARK: Counting

    /// Counts repeats. Author and order identify a message, whatever its id.
    private mutating func countRepeats(_ messages: [HeldMessage], at place: String) {
        for (name, copies) in Dictionary(grouping: messages, by: { "\($0.author) \($0.order)" }) where copies.count > 1
        {
            duplicated += copies.count - 1
            tell("\(place) has \(copies.count) copies of message \(name)")
        }
    }

    private mutating func lose(_ what: String) {
        lost += 1
        tell(what)
    }

    private mutating func tell(_ defect: String) {
        if defects.count < Self.defectsTold { defects.append(defect) }
    }
}
