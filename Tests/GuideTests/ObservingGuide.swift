import Foundation
import Tidemark

// Compiled, not run: these sequences end with their task.

func observe(store: SyncStore, list: UUID, task: UUID) async throws {
    let tasks = store.repository(Todo.self)
    let open = tasks.observe(
        where: \.isDone != true, order: [.by(\.title)], limit: 50, in: .of(list))
    for try await page in open { print(page.map(\.title)) }

    for try await current in tasks.observe(id: task) { print(current?.title ?? "gone") }

    let counts = store.observe { snapshot in
        try snapshot.rows("SELECT isDone, count(*) AS number FROM tasks GROUP BY isDone")
    }
    for try await rows in counts { print(rows.count) }

    for observation in try await store.diagnostics().activeObservations ?? [] where observation.count > 20 {
        print("\(observation.what): \(observation.count), from \(observation.file):\(observation.line)")
    }

    for try await all in tasks.observe(in: .of(list), whenFilled: true) { print(all.count) }

    for try await isFilling in store.isFilling(.of(list)) { print(isFilling ? "loading" : "all here") }

    for await status in store.status {
        switch status.activity {
        case .disconnected: print("not connected, \(status.pending) to send")
        case .upToDate: print("up to date since \(status.lastSync?.description ?? "never")")
        case .syncing(let progress): print("\(Int(progress.fraction * 100)) %, \(status.pending) to send")
        case .offline: print("offline, \(status.pending) to send")
        case .updateRequired(let minimum): print("please update to \(minimum) or later")
        case .error(let reason): print(reason.code == .unauthenticated ? "sign in again" : "\(reason)")
        }
    }
}
