import Foundation
import Observation
import Tidemark
import TidemarkChat

/// The account that is signed in: its chat and its connection.
@MainActor @Observable
final class Messenger {
    private(set) var chat: Chat?

    /// Opens the account's file, which needs no network, and connects, which returns at once.
    func signIn(_ sign: SignIn) async throws {
        let folder = URL.applicationSupportDirectory.appending(path: "messenger")
        let chat = try await Chat.open(account: UserID(sign.user), at: folder)
        try chat.store.connect(to: sign.server, transport: URLSessionTransport()) { sign.token }
        self.chat = chat
    }

    /// Nothing is sent or taken in while the app is in the background; writing goes on.
    var isInFront = true {
        didSet { if isInFront { chat?.store.resume() } else { chat?.store.pause() } }
    }
}
