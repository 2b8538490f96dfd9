package import TidemarkWire

/// The bytes of one outbound message, shared by every connection that gets them.
///
/// A reference type so that the edge can recognise the same frame and turn it into socket bytes once.
package final class Frame: Sendable {
    package let bytes: [UInt8]
    /// It tells of something that was not done.
    package let refusal: ErrorCode?

    package init(_ bytes: [UInt8], refusal: ErrorCode? = nil) {
        self.bytes = bytes
        self.refusal = refusal
    }
}
