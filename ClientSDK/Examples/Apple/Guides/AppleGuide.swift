import Foundation
import Tidemark
import UIKit

// The code of the guide "On Apple's platforms", in its order.

func connect(_ store: SyncStore, token: @escaping @Sendable () async throws -> String) throws {
    try store.connect(to: "https://sync.example.com", transport: URLSessionTransport(), token: token)
}

func pinned(current: Data, next: Data) -> URLSessionTransport {
    URLSessionTransport(pins: CertificatePins([current, next]))  // DER, from the app's resources
}

final class Uploading: Sendable {
    let uploads = BackgroundUploads("com.example.blobs", in: URL.cachesDirectory.appending(path: "uploads"))

    func transport() -> URLSessionTransport { URLSessionTransport(uploads: uploads) }

    /// From `application(_:handleEventsForBackgroundURLSession:completionHandler:)`.
    func woke(_ done: @escaping @Sendable () -> Void) { uploads.finishEvents(done) }
}

/// Answers `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`, which gives half a minute.
func pushed(_ store: SyncStore) async -> UIBackgroundFetchResult {
    let before = store.currentStatus.received
    return await store.runOnce(deadline: .seconds(25)).received > before ? .newData : .noData
}

func openWhileUnlocked(_ account: UserID, at folder: URL, schema: Schema) async throws -> SyncStore {
    try await SyncStore.open(account: account, at: folder, schema: schema, protection: .complete)
}
