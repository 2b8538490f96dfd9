/// The bounds of the chat repositories.
public struct ChatLimits: Hashable, Sendable {
    /// The largest count of unread messages; show "999+".
    public var maxUnread = 999
    /// The receipt times that are kept for each user and conversation; for older messages, only the fact is kept.
    public var maxReceiptTimes = 64
    /// The most conversations in one transaction of receipts; each uses up to three of its 64 mutations.
    public var receiptsAtOnce = 20
    /// The pause between two transactions of delivery receipts: messages that arrive during it are acknowledged
    /// together.
    public var receiptPause: Duration = .milliseconds(250)
    /// The most that `sentAt` may be ahead of the device's clock, in milliseconds, so that an answer sorts after its
    /// question although the other device's clock is fast.
    public var maxClockLead: Int64 = 300_000

    /// The least time between two typing signals of the user.
    public var typingPause: Duration = .seconds(3)
    /// The lifetime of a typing signal; at most the server's 10 seconds.
    public var typingLifetime: Duration = .seconds(6)

    public init() {}
}
