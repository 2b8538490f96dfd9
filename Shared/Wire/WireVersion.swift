/// The versions of the conversation that this build speaks.
package enum WireVersion {
    /// The version that servers and clients of this build prefer.
    package static let current: Int64 = 1
    /// All versions that are understood; the lowest never rises.
    package static let supported: [Int64] = [1]
    /// The WebSocket subprotocol: version and encoding.
    package static let subprotocol = "tidemark.1.json"
}
