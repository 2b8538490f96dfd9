import NIOCore
import TidemarkHub
package import TidemarkModel
package import TidemarkStore
package import TidemarkWire

/// The devices of a workspace, with what this process knows of them beyond the database.
extension Node {
    /// In the order of their ids, a page at a time.
    package func devices(
        of user: UserID?, in workspace: WorkspaceID, after place: ClientID?, limit: Int
    ) async throws(StoreError) -> [ListedDevice] {
        let devices = try await revocationStore.devices(of: user, in: workspace, after: place, limit: limit)
        return try await listed(devices, in: workspace)
    }

    /// One of them; `nil` where it is not registered.
    package func device(_ client: ClientID, in workspace: WorkspaceID) async throws(StoreError) -> Device? {
        guard let owner = try await owner(of: client, in: workspace) else { return nil }
        return try await revocationStore.devices(of: owner, in: workspace, after: nil, limit: .max >> 1)
            .first { $0.id == client }
    }

    /// What is told of devices.
    package func listed(_ devices: [Device], in workspace: WorkspaceID) async throws(StoreError) -> [ListedDevice] {
        guard !devices.isEmpty else { return [] }
        let head: SequenceNumber
        if let followed = followed(workspace) {
            head = followed
        } else {
            head = try await store.session(for: UserID("-"), client: nil, holding: nil, in: workspace).head.seq
        }
        let positions = await positions(of: devices.map(\.id), in: workspace)
        return devices.map { device in
            let latest = sightings.latest(.init(workspace: workspace, client: device.id))
            var row = ListedDevice(
                id: device.id, user: device.user, registered: device.registered,
                seen: max(device.seen, device.registered, latest?.time ?? 0), settledThrough: device.settledThrough,
                ackedThrough: device.ackedThrough)
            row.app = latest?.app ?? device.app
            row.isConnected = positions[device.id] != nil
            row.position = positions[device.id] ?? latest?.position ?? device.position
            // Where the database went back, the device has more than there is.
            row.lag = row.position.map { max(0, head - $0) }
            row.pending = (latest?.written ?? device.written).map { max(0, $0 - device.settledThrough) }
            row.revoked = revocations.notBefore(of: device.id, user: device.user, in: workspace)
            return row
        }
    }

    /// Up to where the clients that are connected here were sent the order.
    private func positions(of clients: [ClientID], in workspace: WorkspaceID) async -> [ClientID: SequenceNumber] {
        var asked: [ObjectIdentifier: (inbox: HubInbox, clients: [(id: ClientID, session: SessionID)])] = [:]
        for id in clients {
            guard let place = connectionCounts.place(of: .init(workspace: workspace, client: id)) else { continue }
            asked[ObjectIdentifier(place.inbox), default: (place.inbox, [])].clients.append((id, place.session))
        }
        var found: [ClientID: SequenceNumber] = [:]
        for (inbox, some) in asked.values {
            let positions = inbox.eventLoop.submit {
                some.compactMap { id, session in
                    inbox.executor.value?.hub.session(session).map { (id, $0.position.seq) }
                }
            }
            // A loop that has stopped has no connections.
            for (id, seq) in (try? await positions.get()) ?? [] { found[id] = seq }
        }
        return found
    }
}
