import SwiftUI
import Tidemark
import TidemarkChat

struct ConversationListPreviews: PreviewProvider {
    static var previews: some View {
        KitPreview(fill: PreviewChat.make) { ConversationList(chat: $0.chat, line: nil) }
    }
}

struct ConversationScreenPreviews: PreviewProvider {
    static var previews: some View {
        KitPreview(fill: PreviewChat.make) { made in
            NavigationStack { ConversationScreen(chat: made.chat, id: made.conversation.id, line: nil) }
        }
    }
}
