import SwiftUI
import Tidemark
import TidemarkChat

/// Opens a direct conversation. Two people have only one, even if both open it while they are offline.
struct OpenConversation: View {
    let chat: Chat
    @State private var name = ""
    @Environment(\.dismiss) private var dismiss
    @EnvironmentObject private var problems: Problems

    var body: some View {
        VStack {
            TextField("User", text: $name)
            Button("Open") {
                problems.attempt {
                    _ = try await chat.conversations.createDirect(with: UserID(name))
                    dismiss()
                }
            }
            .disabled(name.isEmpty)
        }
        .padding(.horizontal)
    }
}
