import SwiftUI
import Tidemark
import TidemarkChat

/// A message with its picture and its status. A failed one keeps its position until it is sent again or discarded.
struct MessageRow: View {
    let chat: Chat
    let message: Message
    @EnvironmentObject private var problems: Problems

    var body: some View {
        VStack(alignment: .leading) {
            Text(message.senderName ?? message.senderID.text).font(.caption)
            if let attachment = message.attachment, let digest = attachment.blob {
                BlobPicture(
                    store: chat.store, digest: digest, scope: ScopeID(record: message.conversationID),
                    preview: attachment.preview)
            }
            if !message.text.isEmpty { Text(message.text) }
            if message.senderID == chat.store.account { state }
        }
    }

    @ViewBuilder private var state: some View {
        Label(message.isQueued ? "queued" : message.status.rawValue, systemImage: symbol).font(.caption)
        if message.status == .failed {
            Text(message.failureReason ?? "").font(.caption)
            HStack {
                Button("Send again") { problems.attempt { try await chat.messages.retry(message.id) } }
                // A message without an answer may have arrived: only a refused one can be discarded.
                if message.failure != nil {
                    Button("Discard", role: .destructive) {
                        problems.attempt { try await chat.messages.discard(message.id) }
                    }
                }
            }
        }
    }

    private var symbol: String {
        switch message.status {
        case .sending: message.isQueued ? "clock" : "arrow.up"
        case .sent: "checkmark"
        case .delivered: "checkmark.circle"
        case .read: "checkmark.circle.fill"
        case .failed: "exclamationmark.circle"
        }
    }
}
