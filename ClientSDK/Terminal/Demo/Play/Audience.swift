import Tidemark
import TidemarkModel

/// Watches each device as an app would: its newest page of messages, by observation.
struct Audience: Sendable {
    /// The page that an app shows.
    static let page = 50

    let company: Company
    let notebook: Notebook

    /// Watches until the task is cancelled.
    func watch() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in company.devices {
                group.addTask { try await watch(device) }
            }
            try await group.waitForAll()
        }
    }

    private func watch(_ device: DemoDevice) async throws {
        let pages = device.store.repository(DemoMessage.self)
            .observe(order: [.by(\.sentAt, .descending)], limit: Self.page)
        var seen: Set<LocalID> = []
        do {
            for try await page in pages {
                let fresh = page.map { LocalID($0.id) }.filter { !seen.contains($0) }
                notebook.seen(fresh, by: device)
                seen.formUnion(fresh)
            }
        } catch is CancellationError {
            return
        }
    }
}
