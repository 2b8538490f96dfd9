import Foundation
import TidemarkExtension
import TidemarkLock
import TidemarkModel

/// A store's access to the folder that it shares with the app's extensions.
final class StoreSharing: Sendable {
    let folder: SharedFolder
    let spool: SpoolFolder
    private let signedIn: SignedIn

    private struct State {
        /// True when extensions know the user for whom they write.
        var isAnnounced = false
        /// True when the user signed out: the store must not write to the folder any more.
        var isOver = false
        /// The problem that was reported last.
        var reported: String?
    }

    private let state = Lock(State())
    /// Fires when the spool should be looked at.
    let wishes = ChangeSignal()

    init(_ folder: SharedFolder, account: UserID, schema: String) {
        self.folder = folder
        spool = SpoolFolder(of: account, in: folder.url)
        signedIn = SignedIn(account: account, schema: schema)
    }

    /// Lets extensions write for this user from now on. Values that another user published are deleted.
    func announce(part: UniqueID) throws {
        try state.withLock { state in
            guard !state.isAnnounced, !state.isOver else { return }
            let before: SignedIn?
            do { before = try SignedIn.read(in: folder.url) } catch {
                // A file that cannot be read is replaced.
                before = nil
            }
            if before != signedIn {
                try PublishedFiles.remove(in: folder.url)
                try signedIn.write(in: folder.url, part: part)
            }
            #if canImport(Darwin)
            // On another device the same writes would come from another client, and take effect twice.
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
        // Only one file or two are written: a sign-out waits for it.
        try state.withLock { state in
            guard !state.isOver else { throw SharingError(.notShared, "the store is closed") }
            try write()
        }
    }

    /// Ends sharing for this user: extensions find no signed-in user, and no published values.
    ///
    /// - Parameter keepsWrites: true to keep the spooled writes, which are adopted when the same user signs in again.
    func end(keepsWrites: Bool) throws {
        try state.withLock { state in
            state.isOver = true
            try SignedIn.remove(in: folder.url)
            try PublishedFiles.remove(in: folder.url)
            if !keepsWrites { try spool.delete() }
        }
    }

    /// - Returns: true when this is not the reason reported last.
    func isNews(_ reason: String?) -> Bool {
        state.withLock { state in
            defer { state.reported = reason }
            return reason != nil && state.reported != reason
        }
    }
}
