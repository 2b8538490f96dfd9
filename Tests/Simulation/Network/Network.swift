import Tidemark
import TidemarkHub
import TidemarkModel
import TidemarkWire

/// Carries messages with delays and faults. Within one connection messages keep their order.
final class Network {
    private unowned let world: World
    private var random: SplitMix
    private var lastID: SessionID = 0
    private var faults: FaultRates { world.plan.faults }

    init(_ world: World) {
        self.world = world
        random = SplitMix(seed: world.plan.seed, "network")
    }

    /// Connects to a random node; `nil` when none can be reached.
    func dial(from device: Device) -> ServerNode? {
        let up = world.nodes.filter { $0.isUp }
        if world.isChaotic, random.chance(faults.dialFails) { return nil }
        return random.pick(up)
    }

    func dialDelay() -> Milliseconds { random.within(5...200) }

    func connect(_ device: Device, to node: ServerNode, _ start: ConnectionStart) -> Connection {
        lastID += 1
        let connection = Connection(
            id: lastID, device: device, node: node, client: start.client, counter: start.connection)
        node.opened(connection)
        return connection
    }

    // MARK: Messages

    func sendUp(_ connection: Connection, _ bytes: [UInt8]) {
        guard connection.isOpenAtClient else { return }
        let number = note(bytes, connection)
        perhapsBreak(connection)
        guard !connection.isUpDead else { return }
        connection.up.append((number, bytes))
        connection.upArrival = max(connection.upArrival, world.now + delay())
        world.after(connection.upArrival - world.now) {
            let (number, bytes) = connection.up.removeFirst()
            // A server that does not know of the loss may still read a message that was sent before it.
            guard connection.isOpenAtServer, !connection.isUpDead else { return }
            connection.pushesUnderWay.removeAll { $0.number == number }
            connection.node.received(connection, bytes)
        }
    }

    func sendDown(_ connection: Connection, _ bytes: [UInt8]) {
        guard connection.isOpenAtServer else { return }
        perhapsBreak(connection)
        connection.buffered += bytes.count
        connection.node.noteBuffer(connection)
        put(.message(bytes), on: connection)
    }

    private func put(_ arrival: Device.Arrival, on connection: Connection) {
        guard !connection.isDownDead else { return }
        connection.down.append(arrival)
        connection.downArrival = max(connection.downArrival, world.now + delay())
        world.after(connection.downArrival - world.now) {
            let arrival = connection.down.removeFirst()
            guard connection.isOpenAtClient, !connection.isDownDead else { return }
            connection.device.arrived(arrival, on: connection)
        }
    }

    /// The client has taken the message from the wire.
    func taken(_ count: Int, from connection: Connection) {
        connection.buffered -= count
        connection.node.noteBuffer(connection)
    }

    // MARK: Ends

    func closeFromServer(_ connection: Connection, code: CloseCode, reason: String) {
        guard connection.isOpenAtServer else { return }
        connection.isOpenAtServer = false
        put(.closed(code.rawValue, reason), on: connection)
    }

    /// The client has closed the connection. The server notices after the earlier messages, or not for a long time.
    func closeFromClient(_ connection: Connection) {
        guard connection.isOpenAtClient else { return }
        connection.isOpenAtClient = false
        let isSilent = world.isChaotic && random.chance(300)
        connection.upArrival = max(connection.upArrival, world.now + delay())
        noticeAtServer(connection, after: connection.upArrival - world.now + (isSilent ? random.within(0...60_000) : 0))
    }

    /// The node's process has ended; mostly the client's system is notified.
    func vanished(_ connection: Connection) {
        connection.isOpenAtServer = false
        connection.isUpDead = true
        connection.isDownDead = true
        guard random.chance(800) else { return world.log("c\(connection.id) is silent") }
        noticeAtClient(connection, after: random.within(1...3_000))
    }

    private func perhapsBreak(_ connection: Connection) {
        guard world.isChaotic, !connection.isUpDead, !connection.isDownDead else { return }
        if random.chance(faults.cut) {
            world.log("cut c\(connection.id)")
            connection.isDownDead = true
            // Either everything on the way is lost, or the client's messages arrive although it gave up.
            connection.isUpDead = random.chance(500)
            noticeAtClient(connection, after: random.within(0...2_000))
            noticeAtServer(connection, after: random.within(0...20_000))
            haunt(connection)
        } else if random.chance(faults.halfOpen) {
            world.log("half-open c\(connection.id)")
            if random.chance(500) { connection.isUpDead = true } else { connection.isDownDead = true }
            // The server closes the connection after 60 seconds of silence. The client is never notified.
            noticeAtServer(connection, after: random.within(1_000...60_000))
        }
    }

    private func note(_ bytes: [UInt8], _ connection: Connection) -> Int? {
        guard bytes.starts(with: #"{"t":"push""#.utf8) else { return nil }
        connection.pushesSent += 1
        connection.pushesUnderWay.append((connection.pushesSent, bytes))
        return connection.pushesSent
    }

    /// Delivers messages that were on the way up after all, late and at any node, as if a proxy had kept them.
    private func haunt(_ connection: Connection) {
        guard connection.isUpDead else { return }
        for (_, push) in connection.pushesUnderWay where random.chance(faults.ghost) {
            guard let call = Self.call(push, connection), let node = random.pick(world.nodes) else { continue }
            world.after(random.within(10...15_000)) { [user = connection.user] in
                guard node.isUp else { return }
                node.received(call, from: user) { _ in }
            }
        }
    }

    private static func call(_ push: [UInt8], _ connection: Connection) -> PushCall? {
        guard case .push(let push)? = try? ClientMessage.decode(push) else { return nil }
        return PushCall(client: connection.client, connection: connection.counter, push: push)
    }

    private func noticeAtClient(_ connection: Connection, after delay: Milliseconds) {
        world.after(delay) {
            guard connection.isOpenAtClient else { return }
            connection.isDownDead = true
            connection.device.arrived(.closed(1006, "lost"), on: connection)
        }
    }

    private func noticeAtServer(_ connection: Connection, after delay: Milliseconds) {
        world.after(delay) {
            guard connection.isOpenAtServer else { return }
            connection.isOpenAtServer = false
            connection.node.lost(connection)
        }
    }

    private func delay() -> Milliseconds {
        random.chance(30) ? random.within(100...1_500) : random.within(1...40)
    }
}
