import Foundation
import Tidemark
import TidemarkCommandLine

/// Diagnostics as text for a terminal: a block for each topic, recent problems easy to find.
enum InspectionText {
    /// The most entries of the outbox that are listed; the rest is counted.
    private static let listedMax = 50

    static func overview(_ diagnostics: Diagnostics, now: Date) -> String {
        [
            head(diagnostics), collections(diagnostics.collections), outbox(diagnostics.outbox, now: now),
            parked(diagnostics.parked, now: now), blobs(diagnostics.blobs, now: now), scopes(diagnostics.scopes),
        ].joined(separator: "\n\n")
    }

    static func json(_ value: some Encodable) throws -> String {
        String(decoding: try Diagnostics.encoder.encode(value), as: UTF8.self)
    }

    static func rescued(_ records: [LostRecord]) -> String {
        guard !records.isEmpty else { return "nothing was rescued" }
        return records.map { record in
            """
            \(record.collection)/\(record.record.uuidString.lowercased())  at \(record.number), by \(record.author), in \
            \(record.scope), lost \(record.lostAt.formatted(.iso8601))\(record.isBack ? ", and here again" : "")
              \(SafeText.line(record.body))
            """
        }.joined(separator: "\n")
    }

    static func story(_ story: RecordStory) -> String {
        var lines = ["\(story.collection)/\(story.id)"]
        if let shown = story.shown {
            lines.append("shown      \(shown.state), at \(shown.seq), by \(shown.author), in \(shown.scope)")
            let width = shown.fields.keys.map(\.count).max() ?? 0
            let differing = Set(story.differing)
            for (name, value) in shown.fields.sorted(by: { $0.key < $1.key }) {
                let server = differing.contains(name) ? "   (server: \(story.server?.fields[name] ?? "nothing"))" : ""
                lines.append("  \(name.padding(toLength: width, withPad: " ", startingAt: 0))  \(value)\(server)")
            }
        } else {
            lines.append("shown      no: the app sees no such record")
        }
        if let server = story.server {
            lines.append("server     \(server.state), at \(server.seq), by \(server.author)")
        } else if story.shown != nil {
            lines.append("server     the same")
        }
        if let seq = story.deletedAt { lines.append("deleted    at \(seq)") }
        lines += writes("pending", story.pending) + writes("refused", story.refused)
        return lines.joined(separator: "\n")
    }

    private static func writes(_ title: String, _ writes: [RecordStory.Write]) -> [String] {
        writes.flatMap { write in
            let number = write.number.map { "number \($0), " } ?? ""
            return ["\(title)    \(number)\(write.status), transaction \(write.transaction)"]
                + write.changes.map { "  \($0)" }
        }
    }

    private static func head(_ diagnostics: Diagnostics) -> String {
        var lines = ["account    \(diagnostics.account)", "client     \(diagnostics.client)"]
        lines.append(
            "server     "
                + (diagnostics.isRegistered
                    ? (diagnostics.hasCursor ? "has been in step" : "registered, nothing fetched yet")
                    : "has never answered this device"))
        lines.append("writes     \(diagnostics.lastNumber) made, settled through \(diagnostics.acknowledgedThrough)")
        let journal = diagnostics.journal
        if journal.transactions > 0 {
            let since = journal.oldest.map { ", since \($0.formatted(.iso8601))" } ?? ""
            lines.append(
                "journal    \(journal.transactions) settled and kept, \(bytes(journal.bytes))\(since)")
        }
        if diagnostics.rescued > 0 {
            lines.append("rescued    \(diagnostics.rescued) records that the server lost: 'rescued' shows them")
        }
        if let left = diagnostics.scopesLeftOut {
            lines.append("left out   \(left) older scopes of the user, which do not fit on a connection")
        }
        lines.append("schema     version \(diagnostics.schemaVersion), layout \(diagnostics.format)")
        lines.append("size       \(bytes(diagnostics.databaseBytes))")
        if let comparison = diagnostics.comparison {
            let rest = comparison.ranges > 0 ? ", \(comparison.ranges) ranges to go" : ""
            lines.append(
                """
                compared   \(comparison.began.formatted(.iso8601)): \(comparison.records) records\(rest); \
                \(comparison.differences) differed from the server's so far
                """)
        }
        if let damage = diagnostics.damage {
            lines.append(
                """
                damage     \(damage.found.formatted(.iso8601)): \(damage.reason); kept \(damage.pending) to be sent, \
                \(damage.parked) to be decided on, \(damage.unreadable) unreadable; the damaged file is \(damage.file)
                """)
        }
        return lines.joined(separator: "\n")
    }

    private static func collections(_ collections: [Diagnostics.CollectionState]) -> String {
        let width = collections.map(\.name.count).max() ?? 0
        return
            (["collections"]
            + collections.map { collection in
                var words = [collection.rows.counted("row")]
                if collection.pending > 0 { words.append("\(collection.pending) pending") }
                if collection.failed > 0 { words.append("\(collection.failed) failed") }
                let name = collection.name.padding(toLength: width, withPad: " ", startingAt: 0)
                return "  \(name)  \(words.joined(separator: ", "))"
            }).joined(separator: "\n")
    }

    private static func outbox(_ outbox: [Diagnostics.QueuedWrite], now: Date) -> String {
        guard !outbox.isEmpty else { return "outbox     empty" }
        var lines = ["outbox     \(outbox.count)"]
        for write in outbox.prefix(listedMax) {
            var line = "  \(write.number)  \(write.state), \(age(write.created, now)) old"
            if write.attempts > 0 { line += ", \(write.attempts.counted("attempt"))" }
            if let last = write.lastAttempt { line += ", the last \(age(last, now)) ago" }
            lines.append("\(line): \(write.actions.joined(separator: ", "))")
            if let error = write.lastError { lines.append("     last error: \(error)") }
        }
        if outbox.count > listedMax { lines.append("  … and \(outbox.count - listedMax) more") }
        return lines.joined(separator: "\n")
    }

    private static func parked(_ parked: [Diagnostics.ParkedWrite], now: Date) -> String {
        guard !parked.isEmpty else { return "refused    none" }
        return
            (["refused    \(parked.count)"]
            + parked.suffix(listedMax).map { write in
                "  \(write.code), \(age(write.parked, now)) ago: \(write.message)\n"
                    + "     \(write.actions.joined(separator: ", "))"
            }).joined(separator: "\n")
    }

    private static func blobs(_ blobs: Diagnostics.BlobState, now: Date) -> String {
        var lines = ["blobs      \(blobs.held) held, \(bytes(blobs.heldBytes)); \(blobs.unsent.count) not sent"]
        for blob in blobs.unsent.prefix(listedMax) {
            var line = "  \(blob.digest)  \(bytes(blob.bytes)), \(age(blob.since, now)) old"
            if blob.attempts > 0 { line += ", \(blob.attempts.counted("attempt"))" }
            if let failure = blob.failure { line += ", refused: \(failure)" }
            lines.append("\(line), in \(blob.scope)")
            if let error = blob.lastError { lines.append("     last error: \(SafeText.line(error))") }
        }
        if blobs.unsent.count > listedMax { lines.append("  … and \(blobs.unsent.count - listedMax) more") }
        return lines.joined(separator: "\n")
    }

    private static func scopes(_ scopes: [Diagnostics.ScopeState]) -> String {
        guard !scopes.isEmpty else { return "scopes     none" }
        return
            (["scopes     \(scopes.count)"]
            + scopes.map { scope in
                let filling = scope.filling.map { page in
                    page.floor.map { "\(page.collection) from \($0) on" } ?? "\(page.collection) not begun"
                }
                return "  \(scope.scope)  \(scope.role) since \(scope.since)"
                    + (scope.isComplete ? "" : ", filling: \(filling.joined(separator: ", "))")
            }).joined(separator: "\n")
    }

    /// Returns the age in whole units, the largest that fits.
    private static func age(_ date: Date, _ now: Date) -> String {
        let seconds = max(0, Int(now.timeIntervalSince(date)))
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7_200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3_600) h"
        default: (seconds / 86_400).counted("day")
        }
    }

    private static func bytes(_ count: Int64) -> String {
        count < 1_048_576 ? "\(count / 1_024) KiB" : "\(count / 1_048_576) MiB"
    }
}
