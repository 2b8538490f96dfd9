package import TidemarkModel

/// One device of the answer to `GET /v1/devices`. Times are milliseconds since 1970.
package struct ListedDevice: Hashable, Sendable {
    package var id: ClientID
    package var user: UserID
    /// The name and version of the app, as last reported.
    package var app: String?
    package var registered: Milliseconds
    /// The last noted time of contact; not every contact is noted.
    package var seen: Milliseconds
    /// True when it has a connection to the server that was asked or, if that one asks the others, to one that
    /// answered.
    package var isConnected = false
    /// The number of its last settled transaction.
    package var settledThrough: Int64
    /// The number of the last transaction whose outcome the device is known to have.
    package var ackedThrough: Int64
    /// The number up to which it had the workspace's order; `lag` is how many numbers follow.
    package var position: SequenceNumber?
    package var lag: Int64?
    /// Transactions that it still had to send when it last reported them, less those that were settled since.
    package var pending: Int64?
    /// The time of its revocation: tokens issued before it are invalid.
    package var revoked: Milliseconds?

    package init(
        id: ClientID, user: UserID, registered: Milliseconds, seen: Milliseconds, settledThrough: Int64,
        ackedThrough: Int64
    ) {
        self.id = id
        self.user = user
        self.registered = registered
        self.seen = seen
        self.settledThrough = settledThrough
        self.ackedThrough = ackedThrough
    }

    /// The members by name; unknown values are left out.
    package var fields: Fields {
        var fields: Fields = [
            "id": .string(id.description), "user": .string(user.text), "registered": .integer(registered),
            "seen": .integer(seen), "connected": .boolean(isConnected), "settled": .integer(settledThrough),
            "acked": .integer(ackedThrough),
        ]
        if let app { fields["app"] = .string(app) }
        for (name, number) in [("position", position), ("lag", lag), ("pending", pending), ("revoked", revoked)] {
            if let number { fields[name] = .integer(number) }
        }
        return fields
    }

    static func read(_ reader: inout JSONReader) throws -> ListedDevice {
        var device = ListedDevice(
            id: UniqueID(high: 0, low: 0), user: UserID(""), registered: 0, seen: 0, settledThrough: 0, ackedThrough: 0)
        try reader.object { reader, key in
            switch key {
            case "id": device.id = try MessageReader.id(&reader)
            case "user": device.user = UserID(try reader.string())
            case "app": device.app = try reader.string()
            case "registered": device.registered = try MessageReader.count(&reader)
            case "seen": device.seen = try MessageReader.count(&reader)
            case "connected": device.isConnected = try reader.boolean()
            case "settled": device.settledThrough = try MessageReader.count(&reader)
            case "acked": device.ackedThrough = try MessageReader.count(&reader)
            case "position": device.position = try MessageReader.count(&reader)
            case "lag": device.lag = try MessageReader.count(&reader)
            case "pending": device.pending = try MessageReader.count(&reader)
            case "revoked": device.revoked = try MessageReader.count(&reader)
            default: try reader.skip()
            }
        }
        return device
    }
}

/// The answer to `GET /v1/devices`.
package struct DevicesAnswer: Hashable, Sendable {
    package var devices: [ListedDevice]
    /// True when there may be more devices behind the last one.
    package var hasMore: Bool
    /// The number of servers that were asked for their connections; `silent` of them did not answer. `nil` if a single
    /// server answered.
    package var servers: Int64?
    package var silent: Int64?

    package init(devices: [ListedDevice], hasMore: Bool) {
        self.devices = devices
        self.hasMore = hasMore
    }

    /// Reads an answer; unknown members are ignored.
    package static func decode(_ bytes: [UInt8]) throws(WireError) -> DevicesAnswer {
        var answer = DevicesAnswer(devices: [], hasMore: false)
        try MessageReader.members(of: bytes, "devices") { reader, key in
            switch key {
            case "devices": try reader.array { answer.devices.append(try ListedDevice.read(&$0)) }
            case "more": answer.hasMore = try reader.boolean()
            case "servers": answer.servers = try MessageReader.count(&reader)
            case "silent": answer.silent = try MessageReader.count(&reader)
            default: try reader.skip()
            }
        }
        return answer
    }

    package func encode() -> [UInt8] {
        var fields: Fields = ["devices": .array(devices.map { .object($0.fields) }), "more": .boolean(hasMore)]
        fields["servers"] = servers.map { .integer($0) }
        fields["silent"] = silent.map { .integer($0) }
        return fields.canonicalBytes
    }
}
