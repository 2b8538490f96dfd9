import Foundation
import TidemarkExtension
import TidemarkLock
import TidemarkModel

/// A store's side of the folder that it shares with the app's extensions.
final class StoreSharing: Sendable {
    let folder: SharedFolder
    let spool: SpoolFolder
    private let signedIn: SignedIn

    private struct State {
        /// Extensions know whose what they write is.
        var isAnnounced = false
        /// The user signed out: nothing of this store's may appear in the folder any more.
        var isOver = false
        /// What was told last of what is wrong.
        var told: String?
    }

    private let state = Lock(State())
    /// Fires when the spool is to be looked at.
    let wishes = ChangeSignal()

    init(_ folder: SharedFolder, account: UserID, schema: String) {
        self.folder = folder
        spool = SpoolFolder(of: account, in: folder.url)
        signedIn = SignedIn(account: account, schema: schema)
    }

    /// Lets extensions write for this user from now on. What another user published goes.
    func announce(part: UniqueID) throws {
        try state.withLock { state in
            guard !state.isAnnounced, !state.isOver else { return }
            let before: SignedIn?
            do { before = try SignedIn.read(in: folder.url) } catch {
                // Whatever is wrong with it, it is written anew.
                before = nil
            }
            if before != signedIn {
                try PublishedFiles.remove(in: folder.url)
                try signedIn.write(in: folder.url, part: part)
            }
            #if canImport(Darwin)
            // On another device the same writes would come from another client, and count twice.
            var (url, values) = (folder.url, URLResourceValues())
            values.isExcludedFromBackup = true
            try url.setResourceValues(values)
            #endif
            state.isAnnounced = true
        }
    }

    /// True after the user signed out.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// - Throws: `SharingError` with `notShared` after the user signed out.
    func publish(_ write: () throws -> Void) throws {
        // A file or two: a sign-out waits for it.
        try state.withLock { state in
            guard !state.isOver else { throw SharingError(.notShared, "the store is closed") }
            try write()
        }
    }

    /// Ends it for this user: extensions find nobody who is signed in, and nothing that was published.
    ///
    /// - Parameter keepsWrites: what waits in the spool is adopted when the same user signs in again.
    func end(keepsWrites: Bool) throws {
        try state.withLock { state in
            state.isOver = true
            try SignedIn.remove(in: folder.url)
            try PublishedFiles.remove(in: folder.url)
            if !keepsWrites { try spool.delete() }
        }
    }

    /// - Returns: true when this was not told last.
    func isNews(_ reason: String?) -> Bool {
        state.withLock { state in
            defer { state.told = reason }
            return reason != nil && state.told != reason
        }
    }
}
