import Foundation
import Logging
import TidemarkModel
import TidemarkWire

/// Takes an engine's reports for its store: the status, the journal, the blobs' courier, and the waits that have ended.
struct EngineReports: Sendable {
    let identity: EngineIdentity
    let syncing: SyncControl
    let courier: BlobCourier
    let listeners: EphemeralListeners
    let journal: SyncJournal
    let uptime: Uptime
    let logger: Logger

    func take(_ report: EngineReport) {
        switch report {
        case .phase(let phase): entered(phase)
        case .welcomed(let welcome):
            courier.setServerLimit(blobBytesMax: welcome.limits.blobBytesMax)
            if syncing.status.scopesLeftOut != welcome.leftOut { update { $0.scopesLeftOut = welcome.leftOut } }
        case .synced(let time):
            syncing.update { $0.lastSync = Date(timeIntervalSince1970: Double(time) / 1_000) }
        case .pushPaused(let pause): update { $0.pushPause = pause }
        case .roundEnded(let round): syncing.endRounds(through: round)
        case .collectionRoundEnded(let collection, let round): syncing.endRounds(through: round, of: collection)
        case .historyEnded(let key): syncing.endHistory(of: key)
        case .heard(let message):
            if message.kind == Ephemeral.presence { return syncing.presence.deliver(message) }
            if let message = EphemeralMessage(message) { listeners.deliver(message) }
        case .noted(let event): journal.note(event)
        case .carried(let sent, let received): journal.carried(sent: sent, received: received)
        case .received(let count): if count > 0 { update { $0.received += count } }
        case .diskFull(let isFull):
            if syncing.status.isDiskFull != isFull { syncing.update { $0.isDiskFull = isFull } }
        }
    }

    private func update(_ change: @Sendable (inout SyncStatus) -> Void) { syncing.update(by: identity, change) }

    private func entered(_ phase: ConnectionState) {
        // First, since an observer of the phase may ask at once.
        courier.linked(phase.isConnected)
        guard syncing.update(by: identity, { $0.connection = phase }) else { return }
        if !phase.isConnected {
            syncing.presence.lost()
            syncing.endHistories()
        }
        if case .rejected(let reason) = phase {
            logger.warning(
                "nothing is sent or received until the app connects in another way",
                metadata: ["code": "\(reason.code.rawValue)", "reason": "\(reason.detail)"])
        }
        journal.entered(phase, now: uptime.now)
    }
}
