import Foundation
import Tidemark
import TidemarkChat

/// A message as the terminal shows it, with harmless text only. If the sender's clock was more than a day ahead, it has
/// the server's time, and the sender's time follows the text.
struct ChatLine: Hashable, Sendable, Identifiable {
    enum Mark: String, Hashable, Sendable {
        case none = ""
        case sending = "…"
        case sent = "✓"
        case delivered = "✓✓"
        case read = "✔✔"
        case failed = "✗"
    }

    var id: UUID
    var sender: String
    var isOwn: Bool
    var text: String
    /// The time, such as `14:05`, and the day, in the terminal's time zone.
    var time: String
    var day: String
    /// The progress of the sending; for own messages only.
    var mark: Mark
    /// The reason for the failure.
    var failure: String?
}

extension ChatLine {
    init(_ message: Message, account: UserID, _ names: MemberNames, in zone: TimeZone) {
        id = message.id
        isOwn = message.senderID == account
        sender = names.sender(message.senderID, claimed: message.senderName)
        let attached = message.attachment.map(Self.label)
        (day, time) = Self.clock(message.isClockAhead ? message.createdAt : message.sentAt, in: zone)
        let claimed = Self.clock(message.sentAt, in: zone)
        let remark = message.isClockAhead ? "[by its sender's clock: \(claimed.day) \(claimed.time)]" : ""
        text = [SafeText.of(message.text), attached ?? "", remark].filter { !$0.isEmpty }.joined(separator: " ")
        mark = isOwn ? Mark(message.status) : .none
        failure = message.failure.map { SafeText.line($0.message) }
    }

    /// Returns the label of an attachment, such as `[cat.jpg 1.2 MB]`.
    static func label(of attachment: MessageAttachment) -> String {
        "[\(SafeText.line(attachment.name ?? attachment.contentType)) \(ByteCount.text(attachment.byteCount))]"
    }

    /// Returns day and time, such as `2026-02-14` and `14:05`.
    static func clock(_ date: Date, in zone: TimeZone) -> (day: String, time: String) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: date)
        let day = "\(digits(parts.year, 4))-\(digits(parts.month, 2))-\(digits(parts.day, 2))"
        return (day, "\(digits(parts.hour, 2)):\(digits(parts.minute, 2))")
    }

    /// Returns the time, such as `14:05:12`.
    static func time(ofMilliseconds time: Int64, in zone: TimeZone) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let date = Date(timeIntervalSince1970: Double(time) / 1_000)
        let parts = calendar.dateComponents([.hour, .minute, .second], from: date)
        return "\(digits(parts.hour, 2)):\(digits(parts.minute, 2)):\(digits(parts.second, 2))"
    }

    private static func digits(_ number: Int?, _ count: Int) -> String {
        let text = String(number ?? 0)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}

extension ChatLine.Mark {
    init(_ status: MessageStatus) {
        switch status {
        case .sending: self = .sending
        case .sent: self = .sent
        case .delivered: self = .delivered
        case .read: self = .read
        case .failed: self = .failed
        }
    }
}
