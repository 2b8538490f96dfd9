public import Tidemark

/// A message that was found.
public struct MessageHit: Hashable, Sendable, Identifiable {
    public let message: Message
    /// The part of its text around the found words.
    public let snippet: SearchSnippet

    public var id: Message.ID { message.id }

    public init(message: Message, snippet: SearchSnippet) {
        self.message = message
        self.snippet = snippet
    }
}
