import TidemarkModel
import TidemarkWire

@testable import Tidemark

extension Device {
    /// Pushes over HTTP while the app is suspended: several attempts, each with a connection number of its own, some of
    /// them twice. The answers are ignored; the stream delivers the outcome later.
    func pushInBackground() {
        guard !isReader else { return }
        do {
            for _ in 0..<(1 + random.below(3)) {
                let start = try transact { try $0.beginConnection() }
                guard !start.isNewClient else { return }
                let entries = try transact {
                    try $0.nextPush(after: start.ackedThrough, maxTransactions: 5, maxBytes: 100_000)
                }
                guard let first = entries.first else { return }
                log("pushes \(first.number) and on over HTTP")
                let push = Push(
                    first: first.number, ackedThrough: start.ackedThrough, entries: entries.map(\.entry))
                let call = PushCall(client: start.client, connection: start.connection, push: push)
                for _ in 0..<(random.chance(300) ? 2 : 1) { send(call) }
            }
        } catch is Killed {
            kill()
        } catch {
            log("cannot push in the background: \(error)")
        }
    }

    private func send(_ call: PushCall) {
        guard let node = random.pick(world.nodes), let call = try? PushCall.decode(call.encode()) else { return }
        world.after(random.within(5...3_000)) { [owner] in
            if node.isUp { node.received(call, from: owner) { _ in } }
        }
    }
}
