import Foundation
import SwiftUI
import Tidemark
import TidemarkChat

/// The input field of a message. The message is durable, and visible in the list, a moment after the button is pressed.
struct Composer: View {
    let chat: Chat
    let conversation: UUID
    @State private var text = ""
    @EnvironmentObject private var problems: Problems

    var body: some View {
        HStack {
            PictureButton { picture in
                let photo = MessageAttachment(
                    .image, bytes: picture.jpeg, contentType: "image/jpeg", width: picture.width,
                    height: picture.height, preview: picture.preview)
                try await chat.messages.send("", to: conversation, attachment: photo, bytes: picture.jpeg)
            }
            TextField("Message", text: $text)
                .onChange(of: text) { text in if !text.isEmpty { chat.typing.setTyping(in: conversation) } }
            Button("Send", systemImage: "paperplane") {
                let said = text
                text = ""
                problems.attempt { try await chat.messages.send(said, to: conversation) }
            }
            .disabled(text.isEmpty)
        }
        .padding(.horizontal)
    }
}
