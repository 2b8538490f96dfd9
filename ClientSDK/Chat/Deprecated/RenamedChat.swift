// The names before the first release; they go with the one after it.
public import Foundation
public import Tidemark

extension Message {
    @available(*, deprecated, renamed: "createdAt") public var created: Date { createdAt }
    @available(*, deprecated, renamed: "updatedAt") public var updated: Date? { updatedAt }
}

extension User {
    @available(*, deprecated, renamed: "createdAt") public var created: Date { createdAt }
    @available(*, deprecated, renamed: "updatedAt") public var updated: Date? { updatedAt }
}

extension Conversation {
    @available(*, deprecated, renamed: "createdAt") public var created: Date { createdAt }
    @available(*, deprecated, renamed: "updatedAt") public var updated: Date? { updatedAt }
}

extension ChatLimits {
    @available(*, deprecated, renamed: "maxUnread") public var unreadMax: Int {
        get { maxUnread }
        set { maxUnread = newValue }
    }
    @available(*, deprecated, renamed: "maxReceiptTimes") public var receiptTimesMax: Int {
        get { maxReceiptTimes }
        set { maxReceiptTimes = newValue }
    }
    @available(*, deprecated, renamed: "maxClockLead") public var clockLeadMax: Int64 {
        get { maxClockLead }
        set { maxClockLead = newValue }
    }
}

extension MessageSearchOrder {
    @available(*, deprecated, renamed: "newestFirst") public static var recency: MessageSearchOrder { .newestFirst }
}

extension MessageRepository {
    @available(*, deprecated, renamed: "search(_:in:order:limit:)") public func search(
        _ text: String, in conversation: UUID?, orderBy order: MessageSearchOrder, limit: Int
    ) async throws -> [MessageHit] {
        try await search(text, in: conversation, order: order, limit: limit)
    }

    @available(*, deprecated, renamed: "observeSearch(_:in:order:limit:)") public func observeSearch(
        _ text: String, in conversation: UUID?, orderBy order: MessageSearchOrder, limit: Int
    ) -> LiveValues<[MessageHit]> {
        observeSearch(text, in: conversation, order: order, limit: limit)
    }
}
