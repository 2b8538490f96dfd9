import SwiftUI
import Tidemark
import TidemarkChat

@main struct MessengerApp: App {
    @UIApplicationDelegateAdaptor private var delegate: MessengerDelegate
    @StateObject private var problems = Problems()
    @Environment(\.scenePhase) private var phase

    var body: some Scene {
        WindowGroup {
            FirstScreen(messenger: delegate.messenger).modifier(ProblemAlert(problems: problems))
        }
        .onChange(of: phase) { phase in delegate.messenger.isInFront = phase == .active }
    }
}

/// The conversations of the signed-in account, or the sign-in screen.
private struct FirstScreen: View {
    @ObservedObject var messenger: Messenger
    @EnvironmentObject private var problems: Problems

    var body: some View {
        Group {
            if let chat = messenger.chat {
                ConversationList(chat: chat, line: messenger.line).task { await keepUp(chat) }
            } else {
                SignInScreen { sign in problems.attempt { try await messenger.signIn(sign) } }
            }
        }
    }

    /// Sends receipts: what this device has received, and what its user has read.
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
