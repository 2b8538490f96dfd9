import SwiftUI
import Tidemark
import TidemarkChat

struct ConversationRow: View {
    let conversation: Conversation
    let user: UserID

    var body: some View {
        HStack {
            VStack(alignment: .leading) {
                Text(conversation.title(for: user)).font(.headline)
                if let last = conversation.lastMessage { Text(last.text).font(.footnote).lineLimit(1) }
            }
            Spacer()
            if conversation.unread.count > 0 {
                // If older messages are still arriving, there may be more.
                Text("\(conversation.unread.count)\(conversation.unread.isExact ? "" : "+")").font(.caption)
            }
        }
    }
}
