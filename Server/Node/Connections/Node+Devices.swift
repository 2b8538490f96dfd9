package import TidemarkModel
package import TidemarkStore
package import TidemarkWire

/// The devices of a workspace, with what this process knows of them beyond the database.
extension Node {
    /// Returns one page of devices in the order of their ids, with what this process alone knows of them.
    package func devices(
        of user: UserID?, in workspace: WorkspaceID, after place: ClientID?, limit: Int
    ) async throws(StoreError) -> [ListedDevice] {
        let devices = try await operating.devices(of: user, in: workspace, after: place, limit: limit)
        return try await listed(devices, in: workspace)
    }

    /// Returns one device; `nil` if it is not registered.
    package func device(_ client: ClientID, in workspace: WorkspaceID) async throws(StoreError) -> Device? {
        guard let owner = try await owner(of: client, in: workspace) else { return nil }
        return try await operating.devices(of: owner, in: workspace, after: nil, limit: .max >> 1)
            .first { $0.id == client }
    }

    /// Returns the rows of the list of devices.
    ///
    /// - Parameter sights: what is known beyond the database; if absent, what this process alone knows.
    package func listed(
        _ devices: [Device], _ sights: DeviceSights? = nil, in workspace: WorkspaceID
    ) async throws(StoreError) -> [ListedDevice] {
        guard !devices.isEmpty else { return [] }
        let head: SequenceNumber
        if let followed = followed(workspace) {
            head = followed
        } else {
            head = try await store.session(for: UserID("-"), client: nil, holding: nil, in: workspace).head.seq
        }
        var known = DeviceSights()
        if let sights { known = sights } else { known.devices = await ownSights(of: devices.map(\.id), in: workspace) }
        return known.brought(to: devices).map { device in
            let connection = known.devices[device.id]?.connection
            var row = ListedDevice(
                id: device.id, user: device.user, registered: device.registered,
                seen: max(device.seen, device.registered), settledThrough: device.settledThrough,
                ackedThrough: device.ackedThrough)
            row.app = device.app
            row.isConnected = connection != nil
            row.position = connection?.position ?? device.position
            // If the database went back, the device is ahead of its head.
            row.lag = row.position.map { max(0, head - $0) }
            row.pending = device.written.map { max(0, $0 - device.settledThrough) }
            row.revoked = revocations.notBefore(of: device.id, user: device.user, in: workspace)
            return row
        }
    }
}
