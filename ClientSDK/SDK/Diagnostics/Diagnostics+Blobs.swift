public import Foundation

extension Diagnostics {
    /// The blobs on the device: the bytes that records refer to.
    public struct BlobState: Codable, Hashable, Sendable {
        /// The number of blobs that the server also has.
        public var held: Int64
        /// The bytes of those blobs.
        public var heldBytes: Int64
        /// The blobs that are not on the server yet, oldest first.
        public var unsent: [Unsent]

        /// A blob that is not on the server yet.
        public struct Unsent: Codable, Hashable, Sendable {
            /// The first digits of its digest.
            public var digest: String
            /// The scope of the blob.
            public var scope: String
            /// The size in bytes.
            public var bytes: Int64
            /// The time of the keep, by the device's clock.
            public var since: Date
            /// The number of failed attempts.
            public var attempts: Int64
            /// The reason why the server refused it; `nil` while it is tried again.
            public var failure: String?
            /// The last error.
            public var lastError: String?
        }
    }
}
