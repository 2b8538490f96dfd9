import TidemarkModel
import TidemarkWire

/// A report of an engine to its store.
enum EngineReport: Sendable {
    /// The phase has changed.
    case phase(ConnectionState)
    /// The server's limits, and the number of the user's scopes that do not fit on the connection.
    case welcomed(Welcome)
    /// The copy is consistent as of this server time.
    case synced(Milliseconds)
    /// The server wants nothing pushed for a while, or with `nil` the pause has ended.
    case pushPaused(PushPause?)
    /// The rounds up to this number have ended.
    case roundEnded(Int64)
    /// The rounds of one collection up to this number have ended.
    case collectionRoundEnded(String, Int64)
    /// The record's whole history that the server knows is on the device. The key has the collection's own name.
    case historyEnded(RecordKey)
    /// An ephemeral message of another device, or the server's presence message.
    case heard(Ephemeral)
    /// A decision was made while something was applied. After the commit.
    case noted(SyncLogEvent)
    /// The size in bytes of a message that was sent, or of one that was received.
    case carried(sent: Int, received: Int)
    /// The number of records that were taken in. After the commit.
    case received(Int)
    /// The engine has written to the database; true when the disk is full.
    case diskFull(Bool)
}
