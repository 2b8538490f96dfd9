import Testing
import Tidemark

@testable import TidemarkChat

@Suite struct QueryPlanTests {
    /// The queries that run after every write: none of them may read all messages.
    private static let queries: [(name: String, sql: String, arguments: [FieldValue])] = [
        ("all conversations", ConversationList.sql(.all), ["ann", 1_000, 1]),
        ("newest conversations", ConversationList.sql(.newest), ["ann", 1_000, 1, 50]),
        ("one conversation", ConversationList.sql(.one), ["ann", 1_000, 1, "x"]),
        ("undelivered", Chat.undeliveredSQL, ["ann"]),
        ("newest time", "SELECT max(sentAt) AS newest FROM messages WHERE scope = ?", ["x"]),
        (
            "newest page",
            "SELECT * FROM messages WHERE scope = ? AND sentAt <= ? ORDER BY sentAt DESC, local_id DESC LIMIT ?",
            ["x", 1, 50]
        ),
        ("ahead of the clock", "SELECT * FROM messages \(MessagePage.aheadClause)", ["x", 1, 50]),
        ("newest at the server", MessageClock.newestSQL, ["x"]),
        ("newest of all at the server", MessageClock.newestOfAllSQL, []),
        ("any ahead", MessageClock.aheadSQL, ["x", 1]),
        ("any ahead of all", MessageClock.aheadOfAllSQL, [1]),
        ("newest that end typing", TypingUsers.newestSQL, ["x"]),
        (
            "page before",
            """
            SELECT * FROM messages
            WHERE scope = ? AND sentAt <= ? AND (sentAt < ? OR local_id < ?)
            ORDER BY sentAt DESC, local_id DESC
            LIMIT ?
            """, ["x", 1, 1, "y", 50]
        ),
    ]

    private struct PlanStep: Decodable {
        let detail: String
    }

    @Test(arguments: queries.indices) func `messages and receipts are found by index`(_ index: Int) async throws {
        let query = Self.queries[index]
        let ann = try Messenger("ann")
        let plan = try await ann.chat.store.read {
            try $0.rows("EXPLAIN QUERY PLAN \(query.sql)", query.arguments, as: PlanStep.self).map(\.detail)
        }
        // Aliases of messages and receipts in these queries; `j` lists the members of one conversation.
        let scans = plan.filter { step in
            ["l", "n", "o", "u", "m", "r", "messages", "receipts"].contains {
                step == "SCAN \($0)" || step.hasPrefix("SCAN \($0) ")
            }
        }
        #expect(plan.contains { $0.hasPrefix("SEARCH") })
        #expect(scans == [], "\(query.name): \(plan)")
    }
}
