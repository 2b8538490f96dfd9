import TidemarkHub
import TidemarkModel

/// One socket between a device and a node: two ordered channels, and what each end believes of it.
final class Connection {
    let id: SessionID
    let device: Device
    let node: ServerNode
    let user: UserID
    let client: ClientID
    /// The client's connection counter.
    let counter: Int64
    /// When the token was issued that it is open by.
    var issued: Milliseconds?
    /// The keys of the server's process; `nil` before it accepted the connection.
    var seal: CursorSeal?
    /// Its client id is being registered.
    var isNew = false
    /// Each end's own belief; a cut is noticed by the two at different times.
    var isOpenAtClient = true
    var isOpenAtServer = true
    /// Messages in this direction vanish.
    var isUpDead = false
    var isDownDead = false
    /// What is on the way, and when the last of it arrives: channels keep their order.
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
    /// What the delivery checks know of it.
    var watch = DeliveryWatch()

    init(id: SessionID, device: Device, node: ServerNode, client: ClientID, counter: Int64) {
        self.id = id
        self.device = device
        self.node = node
        self.client = client
        self.counter = counter
        user = device.owner
    }

    /// Nothing that the server says can reach the client any more.
    var isDead: Bool { down.isEmpty && (isDownDead || !isOpenAtServer) }

    /// Alive in both directions, with nothing on the way down.
    var isSound: Bool { isOpenAtServer && !isUpDead && !isDownDead && down.isEmpty }
}
