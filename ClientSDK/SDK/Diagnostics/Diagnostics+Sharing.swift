import TidemarkExtension
import TidemarkModel

extension Diagnostics {
    /// The folder that the app shares with its extensions, as it is now.
    public struct SharingState: Codable, Hashable, Sendable {
        /// The number of writes that wait to be adopted.
        public var waiting: Int
        /// The bytes of their files.
        public var waitingBytes: Int
        /// The names of files that could not be adopted.
        public var setAside: [String]
        /// The number of writes that wait for other users to sign in.
        public var ofOthers: Int
    }
}

extension StoreSharing {
    /// Returns the state of the folder; `nil` while it cannot be read, which the events report.
    func state(of account: UserID) -> Diagnostics.SharingState? {
        do {
            let waiting = try spool.names()
            return Diagnostics.SharingState(
                waiting: waiting.count, waitingBytes: spool.bytes(of: waiting), setAside: try spool.namesAside(),
                ofOthers: try folder.writesOfOthers(than: account))
        } catch { return nil }
    }
}
