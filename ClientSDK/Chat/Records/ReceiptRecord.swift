import Foundation
import Tidemark

/// The messages of one conversation that one user has received and read.
///
/// There is one record for each user and conversation, however many messages. It has two marks that only rise, in the
/// server's order of messages, and the times of the last marks as `number@milliseconds`. Marking any number of messages
/// is one small write; a set of readers in each message would cost a write for each message and reader. Marks from two
/// devices merge by `max`, times by element, so no order of arrival loses one. The id is derived from the names, so
/// that the user's devices write the same record without asking. Only its author may change it: nobody can read for
/// another user. The number of times is bounded; older messages are known to be read, no later than at the oldest time.
struct ReceiptRecord: SyncModel, Equatable {
    static let collection = "receipts"

    var id: UUID
    var conversationId: UUID
    var deliveredThrough: Int64?
    var readThrough: Int64?
    var deliveries: Set<String>?
    var readings: Set<String>?

    // Filled by the store.
    var author: String?

    init(of user: UserID, in conversation: UUID) {
        id = ChatID.receipts(of: user, in: conversation)
        conversationId = conversation
    }
}

extension ReceiptRecord {
    init(reading record: inout RecordReader) throws {
        id = try record["id"]
        conversationId = try record["conversationId"]
        deliveredThrough = try record["deliveredThrough"]
        readThrough = try record["readThrough"]
        deliveries = try record["deliveries"]
        readings = try record["readings"]
        author = try record["author"]
    }
}

/// The two marks of a receipt record.
enum ReceiptKind: Sendable {
    case delivered
    case read
}

extension ReceiptRecord {
    /// Raises a mark; a mark that is already as high stays.
    mutating func note(_ kind: ReceiptKind, through number: Int64, at time: Milliseconds, timesMax: Int) {
        switch kind {
        case .delivered:
            guard number > max(deliveredThrough ?? 0, readThrough ?? 0) else { return }
            deliveredThrough = number
            deliveries = Self.adding(ReceiptTime(number: number, time: time), to: deliveries, max: timesMax)
        case .read:
            guard number > readThrough ?? 0 else { return }
            readThrough = number
            readings = Self.adding(ReceiptTime(number: number, time: time), to: readings, max: timesMax)
        }
    }

    private static func adding(_ mark: ReceiptTime, to texts: Set<String>?, max: Int) -> Set<String> {
        let times = (texts ?? []).compactMap { ReceiptTime($0) } + [mark]
        return Set(times.sorted { $0.number > $1.number }.prefix(max).map(\.text))
    }
}

/// The time at which a mark was raised to a number.
struct ReceiptTime: Hashable, Sendable {
    let number: Int64
    let time: Milliseconds

    init(number: Int64, time: Milliseconds) {
        self.number = number
        self.time = time
    }

    init?(_ text: String) {
        let parts = text.split(separator: "@")
        guard parts.count == 2, let number = parts.first.flatMap({ Int64($0) }),
            let time = parts.last.flatMap({ Int64($0) })
        else { return nil }
        self.init(number: number, time: time)
    }

    var text: String { "\(number)@\(time)" }
}
