import Foundation
import SwiftUI
import Tidemark
import TidemarkChat

/// All conversations, the most recent first; the search covers all of them.
struct ConversationList: View {
    let chat: Chat
    let line: StatusLine?
    @State private var conversations: [Conversation] = []
    @State private var hits: [MessageHit] = []
    @State private var words = ""
    @State private var isAdding = false
    @State private var isDeveloping = false
    @EnvironmentObject private var problems: Problems

    var body: some View {
        NavigationStack {
            List {
                if words.isEmpty {
                    ForEach(conversations) { conversation in
                        NavigationLink(value: conversation.id) {
                            ConversationRow(conversation: conversation, user: chat.store.account)
                        }
                    }
                } else {
                    FoundMessages(hits: hits)
                }
            }
            .navigationTitle("Conversations")
            .navigationDestination(for: UUID.self) { ConversationScreen(chat: chat, id: $0, line: line) }
            .searchable(text: $words)
            .safeAreaInset(edge: .top) { OfflineBanner(store: chat.store, line: line) }
            .toolbar {
                Button("New", systemImage: "square.and.pencil") { isAdding = true }
                // For test builds.
                Button("Developer", systemImage: "wrench") { isDeveloping = true }
            }
            .sheet(isPresented: $isAdding) { OpenConversation(chat: chat) }
            .sheet(isPresented: $isDeveloping) { DeveloperView(store: chat.store) }
        }
        .following(0, { chat.conversations.observe(newest: 100) }) {
            conversations = $0
        } fail: {
            problems.shown = "\($0)"
        }
        .following(words, { chat.messages.observeSearch(words, in: nil, order: .newestFirst, limit: 50) }) {
            hits = $0
        } fail: {
            problems.shown = "\($0)"
        }
    }
}
