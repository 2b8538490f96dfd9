import GRDB
import TidemarkHub
import TidemarkModel

@testable import Tidemark

/// I-32: while a device has something to send and nothing prevents it, it makes an attempt within the longest wait. It
/// closes a connection that carries nothing any more, whether it has something to send or not.
final class LivenessCheck {
    /// The time between two checks.
    private static let interval: Milliseconds = 1_000
    /// The time for dialling and for the answer to `hello`.
    private static let grace: Milliseconds = 15_000
    private unowned let world: World
    /// The time since which each device could have sent something without having tried.
    private var waiting: [Int: (since: Milliseconds, attempts: Int)] = [:]
    /// The time since which each device has kept a dead connection.
    private var holding: [Int: (since: Milliseconds, connection: SessionID)] = [:]

    init(_ world: World) { self.world = world }

    func schedule() {
        world.after(Self.interval) {
            for device in self.world.devices {
                self.look(at: device)
                self.lookAtConnection(of: device)
            }
            self.schedule()
        }
    }

    private func look(at device: Device) {
        guard !world.isChaotic, let machine = device.machine, isWaiting(device, machine) else {
            waiting[device.number] = nil
            return
        }
        guard let before = waiting[device.number], before.attempts == device.attempts else {
            waiting[device.number] = (world.now, device.attempts)
            return
        }
        let longest = world.plan.engine.backoffMax + Self.grace
        world.require(
            world.now - before.since <= longest, .liveness,
            "d\(device.number) has something to send and made no attempt for \(world.now - before.since) ms")
    }

    private func lookAtConnection(of device: Device) {
        guard let connection = device.connection, connection.isDead else {
            holding[device.number] = nil
            return
        }
        guard let before = holding[device.number], before.connection == connection.id else {
            holding[device.number] = (world.now, connection.id)
            return
        }
        let timing = world.plan.engine
        let longest = timing.heartbeatMax * 3 / 2 + timing.probeMax << Int64(timing.silentEndsMax) + Self.grace
        world.require(
            world.now - before.since <= longest, .liveness,
            "d\(device.number) holds on to the dead c\(connection.id) for \(world.now - before.since) ms")
    }

    /// True when something to send is not on its way, and neither the app nor the server asked for a wait.
    private func isWaiting(_ device: Device, _ machine: SyncMachine) -> Bool {
        let now = device.uptime
        guard !device.isInBackground, machine.link != .refused, machine.pushes.isEmpty, now >= machine.notBefore,
            now >= machine.pushPausedUntil
        else { return false }
        let sql = "SELECT EXISTS (SELECT 1 FROM tidemark_outbox WHERE state IN ('queued', 'sending'))"
        return device.look { try Bool.fetchOne($0.cachedStatement(sql: sql)) ?? false } ?? false
    }
}
