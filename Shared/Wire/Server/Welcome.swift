package import TidemarkModel

/// The answer to `hello`: the scopes that the client keeps, drops and must fill, and the number from which it sends on.
package struct Welcome: Hashable, Sendable {
    /// The state of the client's cursor.
    package enum CursorState: String, Hashable, Sendable {
        /// The stream goes on from it.
        case ok
        /// The client sent none: everything arrives as new scopes.
        case none
        /// It belongs to another history, or is older than the remembered deletions: everything held must be filled
        /// again, pending writes stay.
        case resync
        /// It lies in a history that the database lost: the client goes back to ``Rewind/to``, and the stream goes on
        /// from there.
        case rewound
        /// It is older than the remembered deletions: the client goes on from ``Welcome/cursor``, and compares and
        /// mends what it holds of kept scopes.
        case behind
    }

    /// The point to which a client goes back.
    package struct Rewind: Hashable, Sendable {
        /// The last number that its copy and the order have in common.
        package var to: SequenceNumber
        /// The past cursor at that number, as the client sent it.
        package var end: String

        package init(to: SequenceNumber, end: String) {
            self.to = to
            self.end = end
        }
    }

    package var version: Int64
    /// The name of the server process, for logs.
    package var server: String
    /// The server's release, such as `1.2.3`, for logs and support; `nil` if the server does not send it.
    package var release: String?
    /// The user of the token; `nil` if the server does not send it.
    package var user: UserID?
    /// The schema that the server stores; `nil` if the server does not send it.
    package var schema: SchemaLabel?
    package var epoch: Epoch
    package var cursorState: CursorState
    /// The cursor at which the stream of `changes` begins: the client's own, or the head if it had none.
    package var cursor: String
    /// Scopes that the client holds under the user's grant: deltas follow.
    package var kept: [HeldScope]
    /// Scopes to delete locally: no longer granted, or under another grant.
    package var purged: [ScopeID]
    /// Scopes to fill by pages; all grants of the listed parts if ``parts`` is set.
    package var added: [Changes.GrantChange]
    /// The parts that ``added`` lists completely, for a client that sent digests of its scopes; see ``resolved(for:)``.
    package var parts: ListedParts?
    /// The client's last settled transaction; it sends on from the next.
    package var settledThrough: Int64
    /// Server time.
    package var now: Milliseconds
    /// The time when the token expires.
    package var tokenExpires: Milliseconds
    /// Milliseconds between the server's pings.
    package var heartbeat: Int64
    package var limits: WireLimits
    /// The bounds within which the client may send `eph`.
    package var ephemerals: EphemeralLimits
    /// The point to go back to if the state is ``CursorState/rewound``.
    package var rewind: Rewind?
    /// Kept scopes in which the client has another role than it sent.
    package var roles: [Changes.GrantChange] = []
    /// The number up to which the operator calls the order safe: a client need not keep its own writes up to it for the
    /// case that the database goes back. `nil` if the server does not send it.
    package var durable: SequenceNumber?
    /// The first number that meant something else when the client's cursor was given out, because the database went
    /// back since. `nil` if it did not, or if the server does not send it.
    package var lost: SequenceNumber?
    /// The number of the user's scopes that do not fit on the connection: the oldest grants. 0 if all fit, or if the
    /// server does not send it.
    package var leftOut = 0
    /// The scopes among these that the client may hold: it deletes them, but access to them has not ended.
    package var notFitting: [ScopeID] = []

    package init(
        server: String, epoch: Epoch, cursorState: CursorState, cursor: String, kept: [HeldScope], purged: [ScopeID],
        added: [Changes.GrantChange], settledThrough: Int64, now: Milliseconds, tokenExpires: Milliseconds,
        heartbeat: Int64, limits: WireLimits, ephemerals: EphemeralLimits = EphemeralLimits(), user: UserID? = nil,
        schema: SchemaLabel? = nil, durable: SequenceNumber? = nil, lost: SequenceNumber? = nil, rewind: Rewind? = nil,
        roles: [Changes.GrantChange] = [], leftOut: Int = 0, notFitting: [ScopeID] = [], parts: ListedParts? = nil,
        release: String? = nil
    ) {
        version = WireVersion.current
        self.server = server
        self.release = release
        self.user = user
        self.schema = schema
        self.epoch = epoch
        self.cursorState = cursorState
        self.cursor = cursor
        self.kept = kept
        self.purged = purged
        self.added = added
        self.settledThrough = settledThrough
        self.now = now
        self.tokenExpires = tokenExpires
        self.heartbeat = heartbeat
        self.limits = limits
        self.ephemerals = ephemerals
        self.rewind = rewind
        self.roles = roles
        self.durable = durable
        self.lost = lost
        self.leftOut = leftOut
        self.notFitting = notFitting
        self.parts = parts
    }

    func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 640 + (kept.count + added.count) * 64)
        writer.integer("{\"t\":\"welcome\",\"v\":", version)
        writer.string(",\"server\":", server)
        for case (let name, let text?) in [("release", release), ("user", user?.text)] {
            writer.byte(UInt8(ascii: ","))
            writer.string(name)
            writer.byte(UInt8(ascii: ":"))
            writer.string(text)
        }
        if let schema {
            writer.literal(",\"schema\":")
            schema.write(to: &writer)
        }
        writer.integer(",\"epoch\":", epoch)
        writer.string(",\"state\":", cursorState.rawValue)
        writer.string(",\"cur\":", cursor)
        writer.array(",\"keep\":", kept) { $1.write(to: &$0) }
        writer.array(",\"purge\":", purged) { $0.string($1.text) }
        writer.array(",\"new\":", added) { $1.write(to: &$0) }
        if let parts {
            writer.literal(",\"parts\":")
            parts.write(to: &writer)
        }
        for (name, value) in [("lmid", settledThrough), ("now", now), ("exp", tokenExpires), ("hb", heartbeat)] {
            writer.byte(UInt8(ascii: ","))
            writer.string(name)
            writer.byte(UInt8(ascii: ":"))
            writer.integer(value)
        }
        writer.literal(",\"limits\":")
        limits.write(to: &writer)
        writer.literal(",\"eph\":")
        ephemerals.write(to: &writer)
        if let rewind {
            writer.integer(",\"to\":", rewind.to)
            writer.string(",\"end\":", rewind.end)
        }
        if !roles.isEmpty {
            writer.array(",\"roles\":", roles) { $1.write(to: &$0) }
        }
        let more = [("durable", durable), ("lost", lost), ("left", leftOut > 0 ? Int64(leftOut) : nil)]
        for case (let name, let value?) in more {
            writer.byte(UInt8(ascii: ","))
            writer.string(name)
            writer.byte(UInt8(ascii: ":"))
            writer.integer(value)
        }
        if !notFitting.isEmpty {
            writer.array(",\"out\":", notFitting) { $0.string($1.text) }
        }
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }

    static func decode(_ bytes: [UInt8]) throws(WireError) -> Welcome {
        var welcome = Welcome(
            server: "", epoch: 0, cursorState: .none, cursor: "", kept: [], purged: [], added: [], settledThrough: 0,
            now: 0, tokenExpires: 0, heartbeat: 0, limits: WireLimits())
        var rewind: (to: SequenceNumber?, end: String?)
        try MessageReader.members(of: bytes, "welcome") { reader, key in
            switch key {
            case "v": welcome.version = try MessageReader.count(&reader)
            case "server": welcome.server = try reader.string()
            case "release": welcome.release = try reader.string()
            case "user": welcome.user = try MessageReader.name(&reader, UserID.self)
            case "schema": welcome.schema = try SchemaLabel.read(&reader)
            case "epoch": welcome.epoch = try MessageReader.count(&reader)
            case "state":
                guard let state = CursorState(rawValue: try reader.string()) else {
                    throw reader.failure("unknown state")
                }
                welcome.cursorState = state
            case "cur": welcome.cursor = try reader.string()
            case "keep": welcome.kept = try MessageReader.heldScopes(&reader)
            case "purge": try reader.array { welcome.purged.append(try MessageReader.name(&$0, ScopeID.self)) }
            case "new": try reader.array { welcome.added.append(try Changes.grant(&$0)) }
            case "parts": welcome.parts = try ListedParts.read(&reader)
            case "out": try reader.array { welcome.notFitting.append(try MessageReader.name(&$0, ScopeID.self)) }
            case "lmid": welcome.settledThrough = try MessageReader.count(&reader)
            case "now": welcome.now = try MessageReader.time(&reader)
            case "exp": welcome.tokenExpires = try MessageReader.time(&reader)
            case "hb": welcome.heartbeat = try MessageReader.count(&reader)
            case "limits": welcome.limits = try WireLimits.read(&reader)
            case "eph": welcome.ephemerals = try EphemeralLimits.read(&reader)
            case "to": rewind.to = try MessageReader.count(&reader)
            case "end": rewind.end = try reader.string()
            case "roles": try reader.array { welcome.roles.append(try Changes.grant(&$0)) }
            case "durable": welcome.durable = try MessageReader.count(&reader)
            case "lost": welcome.lost = try MessageReader.count(&reader)
            case "left": welcome.leftOut = Int(clamping: try MessageReader.count(&reader))
            default: try reader.skip()
            }
        }
        guard !welcome.cursor.isEmpty else { throw WireError("welcome: \"cur\" is required") }
        if welcome.cursorState == .rewound {
            guard let to = rewind.to, let end = rewind.end else {
                throw WireError("welcome: \"rewound\" without \"to\" and \"end\"")
            }
            welcome.rewind = Rewind(to: to, end: end)
        }
        return welcome
    }
}
