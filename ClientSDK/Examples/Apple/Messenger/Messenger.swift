import Combine
import Foundation
import Tidemark
import TidemarkChat

/// The signed-in account: its chat, its connection, and its work in the background.
@MainActor
final class Messenger: ObservableObject {
    @Published private(set) var chat: Chat?
    /// The status of the connection, for every screen.
    @Published private(set) var line: StatusLine?

    /// The property list permits the identifier: `BGTaskSchedulerPermittedIdentifiers`, and `fetch` among `UIBackgroundModes`.
    private let refresh = BackgroundRefresh("com.example.messenger.sync", by: .system)
    private var opening: Task<Void, Never>?
    private var following: [Task<Void, Never>] = []

    /// Registers for background refresh before the app has finished launching, and signs in with the stored account:
    /// the system may have launched the app for a task, or for a push notification.
    func launch() {
        do { try refresh.register() } catch { print("the property list permits no background refresh: \(error)") }
        guard let sign = SignIn.kept else { return }
        opening = Task {
            do { try await signIn(sign) } catch { print("show the sign-in: \(error)") }
        }
    }

    /// Opens the account's file, which needs no network, and connects, which returns at once.
    func signIn(_ sign: SignIn) async throws {
        let folder = URL.applicationSupportDirectory.appending(path: "messenger")
        let chat = try await Chat.open(account: UserID(sign.user), at: folder)
        if !isInFront { chat.store.pause() }
        try chat.store.connect(to: sign.server, transport: URLSessionTransport()) { sign.token }
        sign.keep()
        let line = StatusLine(chat.store)
        (self.chat, self.line) = (chat, line)
        following = [
            Task { [refresh] in await refresh.run(chat.store) },
            Task { await line.run() },
        ]
    }

    /// Runs a round for a push notification, within the 30 seconds that the system grants.
    ///
    /// - Returns: true when something arrived.
    func syncInBackground() async -> Bool {
        await opening?.value
        guard let store = chat?.store else { return false }
        let before = store.currentStatus.received
        return await store.runOnce(deadline: .seconds(25)).received > before
    }

    /// Whether the app is in the foreground. In the background nothing is sent or received, except in such rounds;
    /// local writes continue.
    var isInFront = false {
        didSet { if isInFront { chat?.store.resume() } else { chat?.store.pause() } }
    }
}
