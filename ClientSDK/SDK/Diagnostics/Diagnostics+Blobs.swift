public import Foundation

extension Diagnostics {
    /// The bytes that records name, as far as they are on the device.
    public struct BlobState: Codable, Hashable, Sendable {
        /// Blobs that the server has too.
        public var held: Int64
        /// Their bytes.
        public var heldBytes: Int64
        /// Blobs that are not at the server yet, oldest first.
        public var unsent: [Unsent]

        /// A blob that is not at the server yet.
        public struct Unsent: Codable, Hashable, Sendable {
            /// The first digits of its digest.
            public var digest: String
            /// Where it belongs.
            public var scope: String
            /// Its size.
            public var bytes: Int64
            /// When it was kept, by the device's clock.
            public var since: Date
            /// How often it was sent without success.
            public var attempts: Int64
            /// Why the server refused it; `nil` while it is tried again.
            public var failure: String?
            /// What went wrong last.
            public var lastError: String?
        }
    }
}
