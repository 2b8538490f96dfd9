/// Bounds of the chat repositories.
public struct ChatLimits: Hashable, Sendable {
    /// Counting of unread messages ends here; show "999+".
    public var unreadMax = 999
    /// Times of delivery and reading kept for each user and conversation; of what is older, only that it happened.
    public var receiptTimesMax = 64
    /// Conversations in one transaction of receipts; each takes up to three of the 64 mutations that it may have.
    public var receiptsAtOnce = 20
    /// The pause between two transactions of delivery receipts: what arrives in it is acknowledged together.
    public var receiptPause: Duration = .milliseconds(250)
    /// How far `sentAt` may run ahead of the device's clock, so that an answer sorts after what it answers although the
    /// other device's clock is fast. In milliseconds.
    public var clockLeadMax: Int64 = 300_000

    /// The least time between two words that the user is typing.
    public var typingPause: Duration = .seconds(3)
    /// For how long a word that the user is typing counts; at most the server's 10 seconds.
    public var typingLifetime: Duration = .seconds(6)

    public init() {}
}
