import TidemarkHub
import TidemarkModel

/// One socket between a device and a node: two ordered channels, and each end's belief about the connection.
final class Connection {
    let id: SessionID
    let device: Device
    let node: ServerNode
    let user: UserID
    let client: ClientID
    /// The client's connection counter.
    let counter: Int64
    /// The time at which the connection's token was issued.
    var issued: Milliseconds?
    /// The keys of the server's process; `nil` before it accepted the connection.
    var seal: CursorSeal?
    /// True while its client id is being registered.
    var isNew = false
    /// The belief of each end; the two notice a cut at different times.
    var isOpenAtClient = true
    var isOpenAtServer = true
    /// True when messages in this direction vanish.
    var isUpDead = false
    var isDownDead = false
    /// The messages on the way, and the arrival time of the last: channels keep their order.
    var up: [(number: Int?, bytes: [UInt8])] = []
    var upArrival: Milliseconds = 0
    var down: [Device.Arrival] = []
    var downArrival: Milliseconds = 0
    /// Bytes on the way to the client: the server's socket buffer.
    var buffered = 0
    var isBlocked = false
    /// Pushes that have not arrived, by the order of their sending.
    var pushesUnderWay: [(number: Int, bytes: [UInt8])] = []
    var pushesSent = 0
    /// The state of the delivery checks for this connection.
    var watch = DeliveryWatch()

    init(id: SessionID, device: Device, node: ServerNode, client: ClientID, counter: Int64) {
        self.id = id
        self.device = device
        self.node = node
        self.client = client
        self.counter = counter
        user = device.owner
    }

    /// True when no message of the server can reach the client any more.
    var isDead: Bool { down.isEmpty && (isDownDead || !isOpenAtServer) }

    /// True when the connection works in both directions, with nothing on the way down.
    var isSound: Bool { isOpenAtServer && !isUpDead && !isDownDead && down.isEmpty }
}
