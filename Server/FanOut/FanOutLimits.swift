/// Bounds of one fan-out machine.
package struct FanOutLimits: Hashable, Sendable {
    /// Bytes of recent batches kept for each workspace; the bytes are shared by all event loops of a process.
    package var ringBytesMax = 64 * 1_048_576

    package init() {}
}
