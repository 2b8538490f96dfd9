import TidemarkHub
import TidemarkModel
import TidemarkStore
import TidemarkWire

/// Devices, users and the whole workspace are signed out while they write, are away, or are being welcomed.
///
/// A revocation stays in force when the database goes back: running nodes keep what they know. A restored backup is not
/// covered.
final class SignOuts {
    private unowned let world: World
    private var random: SplitMix
    let planned: Int
    /// The revocations, as the database has them.
    private(set) var rows: [Revocation] = []
    /// The number of connections that a revocation ended.
    private(set) var ended = 0

    init(_ world: World) {
        self.world = world
        random = SplitMix(seed: world.plan.seed, "sign-outs")
        planned = random.chance(350) ? 1 + random.below(3) : 0
    }

    func schedule() {
        for _ in 0..<planned { world.after(random.within(2_000...world.plan.chaosTime)) { self.signOut() } }
    }

    private func signOut() {
        guard let node = random.pick(world.nodes.filter(\.isUp)), let device = random.pick(world.devices) else {
            return
        }
        let kind = random.below(10)
        let subject: Revocation.Subject
        if kind < 6, let client = device.connection?.client {
            subject = .client(client, of: device.owner)
        } else {
            subject = kind < 9 ? .user(device.owner) : .workspace
        }
        world.log("n\(node.number) revokes \(subject)")
        rows.append(
            Revocation(subject, in: World.workspace, notBefore: node.clock + 1, number: Int64(rows.count + 1)))
        // Mostly the sign-in service has ended the session too: the app has no token but the old one.
        for device in world.devices where subject.concerns(device.connection?.client, of: device.owner) {
            if random.chance(700) { device.endSignIn(for: random.within(1_000...15_000)) }
        }
        node.followRevocations()
        for other in world.nodes where other.number != node.number {
            if world.isChaotic, random.chance(world.plan.faults.hintLost) { continue }
            world.after(random.within(5...400)) { if other.isUp { other.followRevocations() } }
        }
    }

    /// A connection was closed.
    func closed(_ connection: Connection, _ code: CloseCode, _ reason: String) {
        let isSignedOut = code == .workspaceForbidden
        guard isSignedOut || reason == RevokedToken.outdated.reason else { return }
        ended += 1
        let standing = rows.filter { (connection.issued ?? .min) < $0.notBefore }
        let isMeant = standing.contains { revocation in
            switch revocation.subject {
            case .workspace: !isSignedOut
            case .user(let user): user == connection.user
            // A token that names no device may be that of the signed-out device.
            case .client(let client, let user): isSignedOut ? client == connection.client : user == connection.user
            }
        }
        world.require(isMeant, .signOut, "c\(connection.id) was signed out by \(code.rawValue), and nobody had asked")
    }

    /// A frame is about to be sent. A notice that the server stops may go to anyone.
    func sending(_ frame: [UInt8], on connection: Connection, from node: ServerNode) {
        guard let issued = connection.issued, node.revocationsKnown > 0 else { return }
        let against = rows.prefix(node.revocationsKnown).first { revocation in
            issued < revocation.notBefore && revocation.subject.concerns(connection.client, of: connection.user)
        }
        if against != nil, case .goAway? = try? ServerMessage.decode(frame) { return }
        world.require(
            against == nil, .signOut, "c\(connection.id) is sent something by n\(node.number), and was signed out")
    }
}

extension Revocation.Subject {
    func concerns(_ client: ClientID?, of owner: UserID) -> Bool {
        switch self {
        case .workspace: true
        case .user(let user): user == owner
        case .client(let revoked, _): revoked == client
        }
    }
}
