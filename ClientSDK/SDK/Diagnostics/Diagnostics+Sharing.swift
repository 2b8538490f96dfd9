import TidemarkExtension
import TidemarkModel

extension Diagnostics {
    /// The folder that the app shares with its extensions, as it is now.
    public struct SharingState: Codable, Hashable, Sendable {
        /// Writes that wait to be adopted.
        public var waiting: Int
        /// Bytes of their files.
        public var waitingBytes: Int
        /// Names of files that could not be adopted.
        public var setAside: [String]
        /// Writes that wait for other users to sign in.
        public var ofOthers: Int
    }
}

extension StoreSharing {
    /// What there is to tell; `nil` while the folder cannot be read, which the events tell.
    func state(of account: UserID) -> Diagnostics.SharingState? {
        do {
            let waiting = try spool.names()
            return Diagnostics.SharingState(
                waiting: waiting.count, waitingBytes: spool.bytes(of: waiting), setAside: try spool.namesAside(),
                ofOthers: try folder.writesOfOthers(than: account))
        } catch { return nil }
    }
}
