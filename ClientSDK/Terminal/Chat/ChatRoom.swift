import Foundation
import Tidemark
import TidemarkChat
import TidemarkCommandLine

/// One conversation of one user, with the operations of the terminal.
struct ChatRoom: Sendable {
    let chat: Chat
    let conversation: UUID
    var zone = TimeZone.ofTerminal

    /// Reports the conversation's lines, now and after each change.
    func lines(newest limit: Int, _ use: ([ChatLine], [Message]) async throws -> Bool) async throws {
        for try await messages in chat.messages.observe(conversation, newest: limit) {
            let names = try await names()
            let lines = messages.map { message in
                ChatLine(message, account: chat.store.account, names, in: zone)
            }
            guard try await use(lines, messages) else { return }
        }
    }

    func names() async throws -> MemberNames {
        let members = try await chat.conversations.read(conversation)?.participants ?? []
        let names = Dictionary(members.map { ($0.id, $0.displayName) }, uniquingKeysWith: { first, _ in first })
        return MemberNames(names, account: chat.store.account)
    }

    /// Returns the members, with the message up to which each has read.
    func who() async throws -> [String] {
        guard let found = try await chat.conversations.read(conversation) else {
            return ["The conversation is not on this device yet."]
        }
        let newest = try await chat.messages.newestPage(of: conversation, limit: 200)
        var lines: [String] = []
        for member in found.participants {
            var line = member.displayName == member.id.text ? member.id.text : "\(member.displayName) (\(member.id))"
            if member.id == chat.store.account { line += ", that is you" }
            if let read = newest.last(where: { $0.readBy.contains { $0.user == member.id } }) {
                line += ", has read up to \"\(TextFlow.clipped(SafeText.line(read.text), width: 30))\""
            }
            lines.append(line)
        }
        return lines
    }

    /// Retries refused writes and those without an answer.
    ///
    /// - Returns: a sentence about the next step.
    func retry() async throws -> String {
        // Writes without an answer are retried together with the others.
        let refused = try await chat.messages.newestPage(of: conversation, limit: ChatScreen.linesMax)
            .filter { $0.failure != nil }
        let unanswered = chat.store.currentStatus.stalled
        for message in refused { try await chat.messages.retry(message.id) }
        try await chat.store.outbox.retryStalled()
        let here = ScopeID(record: conversation)
        var files = 0
        for blob in try await chat.store.blobs.unsent() where blob.failure != nil && blob.scope == here {
            try await chat.store.blobs.retry(blob.digest, in: here)
            files += 1
        }
        let connection = ConnectionLine(chat.store.currentStatus)
        return Self.retried(messages: refused.count + unanswered, files: files, isOnline: connection.isOnline)
    }

    /// Returns the sentence about the next step of a retry.
    static func retried(messages: Int, files: Int, isOnline: Bool) -> String {
        let counts = [(messages, "message"), (files, "file")].filter { $0.0 > 0 }.map { $0.counted($1) }
        guard !counts.isEmpty else { return "Nothing was refused; what waits is sent by itself." }
        let what = counts.joined(separator: " and ")
        return isOnline
            ? "Sending \(what) again: ✓ when the server takes it, ✗ and the reason when not."
            : "\(what) will be sent again as soon as the server can be reached."
    }

    /// Notifies the others that these messages were seen.
    func noteSeen(_ messages: [Message]) {
        if let last = messages.last(where: { $0.senderID != chat.store.account }) { chat.messages.noteSeen(last) }
    }
}
