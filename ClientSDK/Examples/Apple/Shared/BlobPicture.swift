import Foundation
import SwiftUI
import Tidemark
import UIKit

/// A picture whose bytes are fetched when it is shown: a small preview first, if the record has one.
struct BlobPicture: View {
    let store: SyncStore
    let digest: BlobDigest
    let scope: ScopeID
    var preview: Data?
    @State private var bytes: Data?
    @State private var isGone = false

    var body: some View {
        VStack {
            if let image = (bytes ?? preview).flatMap({ UIImage(data: $0) }) {
                Image(uiImage: image).resizable().scaledToFit()
            } else if isGone {
                Label("The picture cannot be had", systemImage: "photo")
            } else {
                ProgressView()
            }
        }
        .task(id: digest) { await look() }
    }

    /// Follows the bytes; ends with the view. It waits for a connection, and for a sender whose bytes are still
    /// arriving.
    private func look() async {
        do {
            for try await look in store.blobs.observe(digest, in: scope) {
                switch look {
                case .here(let bytes): self.bytes = bytes
                case .missing: continue
                }
            }
            isGone = bytes == nil
        } catch is CancellationError {
            return
        } catch {
            isGone = true
        }
    }
}
