import SwiftUI
import Tidemark
import TidemarkChat

@main struct MessengerApp: App {
    @UIApplicationDelegateAdaptor private var delegate: MessengerDelegate
    @State private var problems = Problems()
    @Environment(\.scenePhase) private var phase

    private var messenger: Messenger { delegate.messenger }

    var body: some Scene {
        WindowGroup {
            Group {
                if let chat = messenger.chat {
                    ConversationList(chat: chat, line: messenger.line).task { await keepUp(chat) }
                } else {
                    SignInScreen { sign in problems.attempt { try await messenger.signIn(sign) } }
                }
            }
            .modifier(ProblemAlert(problems: problems))
        }
        .onChange(of: phase) { _, phase in messenger.isInFront = phase == .active }
    }

    /// Tells the others what this device has, and what its user has read.
    private func keepUp(_ chat: Chat) async {
        do {
            try await chat.run()
        } catch is CancellationError {
            return
        } catch {
            problems.shown = "\(error)"
        }
    }
}
