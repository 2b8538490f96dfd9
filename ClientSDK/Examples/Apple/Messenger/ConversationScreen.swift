import Foundation
import SwiftUI
import Tidemark
import TidemarkChat

/// The messages of one conversation, oldest first. Each request at the top adds a page.
struct ConversationScreen: View {
    let chat: Chat
    let id: UUID
    let line: StatusLine?
    @State private var messages: [Message] = []
    @State private var count = 50
    @State private var typing: Set<UserID> = []
    @EnvironmentObject private var problems: Problems

    var body: some View {
        ScrollView {
            LazyVStack(alignment: .leading) {
                if messages.count == count { Button("Older ones") { count += 50 } }
                ForEach(messages) { message in
                    MessageRow(chat: chat, message: message)
                        // Read receipts are sent together, after a pause: this is cheap enough for each row.
                        .onAppear { chat.messages.noteSeen(message) }
                }
                if !typing.isEmpty {
                    Text("\(typing.map(\.text).sorted().joined(separator: ", ")) …").font(.caption)
                }
            }
            .padding(.horizontal)
        }
        .modifier(StaysAtEnd(last: messages.last?.id))
        .safeAreaInset(edge: .top) { OfflineBanner(store: chat.store, line: line) }
        .safeAreaInset(edge: .bottom) { Composer(chat: chat, conversation: id) }
        .following(count, { chat.messages.observe(id, newest: count) }) {
            messages = $0
        } fail: {
            problems.shown = "\($0)"
        }
        .task(id: id) { await followTyping() }
    }

    private func followTyping() async {
        do {
            for try await users in chat.typing.observeTyping(in: id) { typing = users }
        } catch {
            // A failed typing indicator does not deserve an alert.
            typing = []
        }
    }
}

/// Starts at the end of the scroll view, and scrolls there for each new last row.
private struct StaysAtEnd: ViewModifier {
    let last: UUID?

    func body(content: Content) -> some View {
        if #available(iOS 17, macOS 14, *) {
            content.defaultScrollAnchor(.bottom)
        } else {
            ScrollViewReader { proxy in
                content.onChange(of: last) { last in if let last { proxy.scrollTo(last, anchor: .bottom) } }
            }
        }
    }
}
