package import TidemarkModel

/// The first message of a client: its identity and the state of its copy.
package struct Hello: Hashable, Sendable {
    /// The versions that the client speaks, best first.
    package var versions: [Int64] = WireVersion.supported
    /// The bearer token, when it was not sent as a header.
    package var token: String?
    package var client: ClientID
    /// True to assert that this client id was never used: the server registers it.
    package var isNewClient: Bool
    /// The number of the client's connections so far; durable, one more each time.
    package var connection: Int64
    /// The last cursor that the client applied; `nil` for an empty database.
    package var cursor: String?
    /// The scopes that the client holds; empty if ``held`` is set.
    package var scopes: [HeldScope]
    /// Digests of the scopes that it holds, from a client that holds many: the welcome then lists only the parts that
    /// differ.
    package var held: ScopeDigests?
    /// Outcomes up to this transaction number are durable at the client.
    package var ackedThrough: Int64
    /// The name and version of the app.
    package var app: String?
    /// Cursors that the client held before, newest first; those beyond ``endsMax`` are ignored. If its cursor lies in a
    /// history that the database lost, the client goes on from the newest of these that does not.
    package var ends: [String]
    /// The role that the client knows in each of `scopes`, in their order; `nil` if the client sends none, or another
    /// number of them.
    package var roles: [Role]?
    /// The number of the last transaction that the client wrote, including those that have no number yet. For the
    /// operator; nothing relies on it.
    package var written: Int64?
    /// The number of connections in a row that ended because the client could not apply what it received; `nil` while
    /// it can. For the operator; nothing relies on it.
    package var stuck: Int64?

    /// The trace that the connection is part of, for its lines in the server's log.
    package var trace: TraceParent?

    /// The number of cursors in `ends` that the server looks at.
    package static let endsMax = 24

    package init(
        token: String? = nil, client: ClientID, isNewClient: Bool, connection: Int64, cursor: String? = nil,
        scopes: [HeldScope] = [], ackedThrough: Int64 = 0, app: String? = nil, ends: [String] = [],
        roles: [Role]? = nil, written: Int64? = nil, stuck: Int64? = nil, trace: TraceParent? = nil,
        held: ScopeDigests? = nil
    ) {
        self.held = held
        self.token = token
        self.client = client
        self.isNewClient = isNewClient
        self.connection = connection
        self.cursor = cursor
        self.scopes = scopes
        self.ackedThrough = ackedThrough
        self.app = app
        self.ends = ends
        self.roles = roles
        self.written = written
        self.stuck = stuck
        self.trace = trace
    }

    static func decode(_ bytes: [UInt8]) throws(WireError) -> Hello {
        var client: ClientID?
        var connection: Int64?
        var roles: String?
        var hello = Hello(client: UniqueID(high: 0, low: 0), isNewClient: false, connection: 0)
        hello.versions = []
        try MessageReader.members(of: bytes, "hello") { reader, key in
            switch key {
            case "v": try reader.array { hello.versions.append(try MessageReader.count(&$0)) }
            case "token": hello.token = try reader.string()
            case "client": client = try MessageReader.id(&reader)
            case "new": hello.isNewClient = try reader.boolean()
            case "conn": connection = try MessageReader.count(&reader)
            case "cursor": hello.cursor = try reader.string()
            case "scopes": hello.scopes = try MessageReader.heldScopes(&reader)
            case "held": hello.held = try ScopeDigests.read(&reader)
            case "acked": hello.ackedThrough = try MessageReader.count(&reader)
            case "app": hello.app = try reader.string()
            case "ends": hello.ends = try ends(&reader)
            case "roles": roles = try reader.string()
            case "written": hello.written = try MessageReader.count(&reader)
            case "stuck": hello.stuck = try MessageReader.count(&reader)
            case "traceparent" where reader.peek() == UInt8(ascii: "\""): hello.trace = TraceParent(try reader.string())
            default: try reader.skip()
            }
        }
        guard let client, let connection else { throw WireError("hello: \"client\" and \"conn\" are required") }
        hello.client = client
        hello.connection = connection
        if let read = roles?.compactMap({ Role(letter: $0) }), read.count == roles?.count,
            read.count == hello.scopes.count
        {
            hello.roles = read
        }
        return hello
    }

    /// Reads the first ``endsMax`` cursors.
    private static func ends(_ reader: inout JSONReader) throws -> [String] {
        var ends: [String] = []
        try reader.array { reader in
            guard ends.count < endsMax else { return try reader.skip() }
            ends.append(try reader.string())
        }
        return ends
    }

    func encode() -> [UInt8] {
        var writer = JSONWriter(
            capacity: 512 + scopes.count * 56 + (held?.parts.count ?? 0) * 20 + ends.count * 48)
        writer.array("{\"t\":\"hello\",\"v\":", versions) { $0.integer($1) }
        if let token {
            writer.string(",\"token\":", token)
        }
        writer.id(",\"client\":", client)
        if isNewClient { writer.literal(",\"new\":true") }
        writer.integer(",\"conn\":", connection)
        if let cursor {
            writer.string(",\"cursor\":", cursor)
        }
        writer.array(",\"scopes\":", scopes) { $1.write(to: &$0) }
        if let held {
            writer.literal(",\"held\":")
            held.write(to: &writer)
        }
        writer.integer(",\"acked\":", ackedThrough)
        if let app {
            writer.string(",\"app\":", app)
        }
        if !ends.isEmpty {
            writer.array(",\"ends\":", ends.prefix(Self.endsMax)) { $0.string($1) }
        }
        if let roles, !roles.isEmpty {
            writer.string(",\"roles\":", String(roles.map(\.letter)))
        }
        if let written {
            writer.integer(",\"written\":", written)
        }
        if let stuck {
            writer.integer(",\"stuck\":", stuck)
        }
        if let trace {
            writer.string(",\"traceparent\":", trace.text)
        }
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }
}

extension Role {
    /// The role as one letter, since a client sends the roles of all its scopes.
    var letter: Character {
        switch self {
        case .member: "m"
        case .admin: "a"
        case .owner: "o"
        }
    }

    fileprivate init?(letter: Character) {
        guard let role = Self.allCases.first(where: { $0.letter == letter }) else { return nil }
        self = role
    }
}
