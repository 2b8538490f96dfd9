/// Bounds of one fan-out machine.
package struct FanOutLimits: Hashable, Sendable {
    /// Bytes of recent batches kept over all workspaces; the bytes are shared by all event loops of a process.
    package var ringBytesMax = 64 * 1_048_576
    /// How long a batch is kept, in milliseconds of the server's time.
    package var ringAgeMax: Int64 = 600_000

    package init() {}
}
