import Foundation
import Tidemark

/// A receipt record, prepared for queries about many messages.
struct ReceiptTrack: Sendable {
    /// The height of a mark, and the times of its rises.
    struct Marks: Sendable {
        let through: Int64
        let times: [ReceiptTime]
    }

    let user: UserID
    let deliveries: Marks
    let readings: Marks

    init?(_ record: ReceiptRecord) {
        guard let author = record.author else { return nil }
        user = UserID(author)
        let readings = Marks(
            through: record.readThrough ?? 0, times: (record.readings ?? []).compactMap { ReceiptTime($0) })
        self.readings = readings
        // A user who has read a message has received it.
        deliveries = Marks(
            through: max(record.deliveredThrough ?? 0, readings.through),
            times: (record.deliveries ?? []).compactMap { ReceiptTime($0) } + readings.times)
    }

    /// Returns the receipts for the message with that number, earliest first.
    static func receipts(
        _ tracks: [ReceiptTrack], _ marks: (ReceiptTrack) -> Marks, _ number: Int64
    ) -> [Receipt] {
        tracks.compactMap { track -> (user: UserID, time: Milliseconds?)? in
            let marks = marks(track)
            guard marks.through >= number else { return nil }
            return (track.user, marks.times.filter { $0.number >= number }.map(\.time).min())
        }
        .sorted { ($0.time ?? 0, $0.user) < ($1.time ?? 0, $1.user) }
        .map { receipt in
            Receipt(user: receipt.user, at: receipt.time.map { Date(timeIntervalSince1970: Double($0) / 1_000) })
        }
    }
}
