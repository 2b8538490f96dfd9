package import TidemarkModel
package import TidemarkStore

/// A device as servers know it beyond the database: its connection, the latest note of it, and the ends of its last
/// ones.
package struct DeviceSight: Hashable, Sendable {
    /// A connection that is open.
    package struct Connection: Hashable, Sendable {
        package var since: Milliseconds
        /// The number up to which every change was sent, or does not concern this device.
        package var position: SequenceNumber
        /// Bytes of frames that are not acknowledged.
        package var pending: Int64
        package var isSlow: Bool
        /// Connections in a row on which the device could not apply what it was sent, as it states.
        package var stuck: Int64?
        /// Records that the device reported on this connection as different from the server's.
        package var diverged: Int64?
    }

    /// The end of a connection.
    package struct Ending: Hashable, Sendable {
        package var time: Milliseconds
        /// The close code; `nil` if the connection was lost without one.
        package var code: UInt16?
        package var reason: String
        /// The same as ``Connection/stuck``.
        package var stuck: Int64?
        /// The same as ``Connection/diverged``.
        package var diverged: Int64?
    }

    package var connection: Connection?
    /// The latest note of the device, which the database may not have yet.
    package var latest: SeenClient?
    /// The ends of its last connections, newest first.
    package var endings: [Ending] = []

    /// The greatest number of endings that are known of a device.
    package static let endingsMax = 5

    package init() {}

    /// Merges what another server knows. Of two connections the later one is kept: the other server does not know
    /// yet that its own is dead.
    package mutating func merge(_ other: DeviceSight) {
        if let theirs = other.connection, theirs.since > connection?.since ?? .min { connection = theirs }
        if let theirs = other.latest {
            let own = latest ?? theirs
            latest = own.time <= theirs.time ? own : theirs
            latest?.merge(own.time <= theirs.time ? theirs : own)
        }
        endings = Array((endings + other.endings).sorted { $0.time > $1.time }.prefix(Self.endingsMax))
    }

    /// Returns the device, updated by the notes that the database does not have yet.
    package func brought(to device: Device) -> Device {
        var device = device
        if let latest {
            let isNewer = latest.time >= device.seen
            device.app = isNewer ? latest.app ?? device.app : device.app ?? latest.app
            device.written = isNewer ? latest.written ?? device.written : device.written ?? latest.written
            device.position = isNewer ? latest.position ?? device.position : device.position ?? latest.position
            device.seen = max(device.seen, latest.time)
        }
        if connection == nil, let ending = endings.first { device.seen = max(device.seen, ending.time) }
        return device
    }
}

/// Some devices of a workspace as all servers know them.
package struct DeviceSights: Hashable, Sendable {
    package var devices: [ClientID: DeviceSight] = [:]
    /// Other servers that serve the workspace.
    package var others = 0
    /// The number of servers that did not answer.
    package var silent = 0

    package init() {}

    /// Returns the devices, updated by what is known beyond the database.
    package func brought(to devices: [Device]) -> [Device] {
        devices.map { self.devices[$0.id]?.brought(to: $0) ?? $0 }
    }
}
