import Crypto
import TidemarkHub
import TidemarkModel

/// The key that seals cursors is changed while nodes serve: each node accepts the new key, then each seals with it,
/// then the old one is removed. The nodes restart one after the other in each step. The next step begins when all have
/// finished.
final class Rotations {
    private unowned let world: World
    private var random: SplitMix
    /// The number of rotations in this course.
    let planned: Int
    /// Restarts of nodes with other keys than before.
    private(set) var restarts = 0
    /// Connections that continued from a cursor that their node would have sealed with another key.
    private(set) var continued = 0
    /// Every key that was ever used, the oldest first.
    private var keys: [SymmetricKey]
    /// The keys with which each node starts, the sealing one first.
    private var settings: [[SymmetricKey]]

    init(_ world: World) {
        self.world = world
        random = SplitMix(seed: world.plan.seed, "rotations")
        planned = random.chance(300) ? 1 + random.below(2) : 0
        keys = [Self.key(0)]
        settings = Array(repeating: [Self.key(0)], count: world.plan.nodeCount)
    }

    private static func key(_ number: UInt8) -> SymmetricKey {
        SymmetricKey(data: [UInt8](repeating: 7 + number, count: 32))
    }

    /// Opens the cursors of every key, for checks.
    var everySeal: CursorSeal { Self.seal(keys.reversed()) }

    /// The seal with which a node starts.
    func seal(of node: Int) -> CursorSeal { Self.seal(settings[node]) }

    /// A client has continued from a cursor at this node.
    func goesOn(from cursor: String, at node: Int) {
        guard let place = everySeal.read(cursor, workspace: World.workspace.text) else { return }
        let own = seal(of: node).cursor(place.head, looked: place.looked, workspace: World.workspace.text)
        if own != cursor { continued += 1 }
    }

    func schedule() {
        guard planned > 0 else { return }
        world.after(random.within(1_000...5_000)) { self.rotate(left: self.planned) }
    }

    private func rotate(left: Int) {
        guard left > 0, let old = keys.last else { return }
        let new = Self.key(UInt8(keys.count))
        keys.append(new)
        let steps = [[old, new], [new, old]] + (random.chance(300) ? [[new]] : [])
        take(steps) { self.world.after(self.random.within(0...4_000)) { self.rotate(left: left - 1) } }
    }

    /// Takes the first step at each node, then the others.
    private func take(_ steps: [[SymmetricKey]], then done: @escaping () -> Void) {
        guard let step = steps.first else { return done() }
        restart(from: 0, with: step) { self.take(Array(steps.dropFirst()), then: done) }
    }

    private func restart(from number: Int, with step: [SymmetricKey], then done: @escaping () -> Void) {
        guard world.isChaotic else { return }
        guard number < world.nodes.count else { return done() }
        let node = world.nodes[number]
        settings[number] = step
        restarts += 1
        let before = node.incarnation
        if random.chance(500) { node.drain() } else { node.crash() }
        whenStarted(node, after: before) { self.restart(from: number + 1, with: step, then: done) }
    }

    /// Waits until the node has restarted.
    private func whenStarted(_ node: ServerNode, after incarnation: Int, then next: @escaping () -> Void) {
        world.after(random.within(200...1_500)) {
            guard self.world.isChaotic else { return }
            if node.isUp, node.incarnation > incarnation { return next() }
            self.whenStarted(node, after: incarnation, then: next)
        }
    }

    private static func seal(_ keys: [SymmetricKey]) -> CursorSeal {
        CursorSeal(key: keys.first ?? key(0), previousKeys: Array(keys.dropFirst()))
    }
}
