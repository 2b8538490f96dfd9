import Foundation
import Tidemark
import TidemarkChat
import TidemarkModel
import TidemarkNIOTransport
import TidemarkWire

/// A device in this process with an open conversation: on the store alone, or as a messenger.
struct LiveDevice: Sendable {
    static let user = "bench-device"
    /// The number of messages on its screen.
    static let page = 50
    /// The longest time from the call to connect until the copy is up to date.
    private static let connectMax: Duration = .seconds(30)

    let store: SyncStore
    let conversation: LocalID
    let sightings = LiveSightings()
    /// The path of the store's file.
    let path: String

    /// Opens the file and connects it; each device name has its own file and client.
    static func open(
        named name: String, in folder: TemporaryFolder, _ conversation: LocalID, at target: LoadTarget,
        prefersExecutors: Bool = true
    ) async throws -> LiveDevice {
        let path = "\(folder.path)/\(name).sqlite"
        let database = try LocalDatabase.open(
            path: path, account: UserID(Self.user), schema: try ChatSchema.schema(),
            newClient: LoadTarget.newClient())
        var environment = StoreEnvironment.system
        environment.prefersExecutors = prefersExecutors
        let store = SyncStore(database: database, environment: environment)
        let token = try target.token(for: Self.user)
        try store.connect(to: target.ground.address.url, transport: NIOTransport()) { token }
        return LiveDevice(store: store, conversation: conversation, path: path)
    }

    /// Returns when the conversation has arrived and the copy is up to date.
    func ready() async throws {
        try await withTimeout(Self.connectMax, "the device did not connect") { [store, conversation] in
            let held = store.observe { snapshot in
                try snapshot.rows("SELECT 1 FROM conversations WHERE local_id = ?", [.id(UUID(conversation))])
            }
            for try await rows in held where !rows.isEmpty { break }
            for await status in store.status where status.connection == .live { break }
        }
    }

    /// Shows the newest messages until it is cancelled.
    func observe() async throws {
        let newest = store.repository(LiveMessage.self).observe(
            order: [.by(\.sentAt, .descending)], limit: Self.page, in: .of(conversation))
        for try await page in newest {
            sightings.show(page.compactMap { Self.sight(number: $0.serverID, text: $0.text) })
        }
    }

    /// Shows them like a messenger, which also sends delivery and read receipts.
    func chat() async throws {
        let chat = Chat(store)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await chat.run() }
            group.addTask {
                for try await page in chat.messages.observe(UUID(conversation), newest: Self.page) {
                    sightings.show(page.compactMap { Self.sight(number: $0.serverID, text: $0.text) })
                    if let last = page.last { chat.messages.noteSeen(last) }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Closes the store and its file.
    func close() async throws { try await store.close() }

    private static func sight(number: Int64?, text: String) -> LiveSightings.Sight? {
        guard let number, let written = PushTemplate.stamp(of: text) else { return nil }
        return LiveSightings.Sight(number: number, written: written)
    }
}
