package import TidemarkModel
package import TidemarkStore

/// The device for which a token is presented, if the request names it.
package enum DeviceClaim: Hashable, Sendable {
    /// A device that is registered for the token's user, or will be checked to be.
    case named(ClientID)
    /// No device is named: it may be any of the user's devices, or a new one.
    case unnamed
    /// The request will name the device, and is judged then.
    case later
}

/// The result of a revocation for a token, see ``RevocationBook``.
package enum RevokedToken: Hashable, Sendable {
    /// The device is signed out until a person signs in.
    case signedOut
    /// A newer token is enough: the user need not notice.
    case outdated

    /// A sentence for the sender of the token.
    package var reason: String {
        switch self {
        case .signedOut: "signed out: the token was revoked; sign in again"
        case .outdated: "the token was revoked; get another"
        }
    }
}

/// The revocations in force: pure, and the same on every node.
///
/// A revoked device keeps its token, and a token names no device. So a request that names none is judged as if the
/// revoked device had sent it. A request that names another device of the user continues: no other device is signed
/// out.
package struct RevocationBook: Sendable {
    private struct Marks {
        var workspace: Milliseconds?
        var users: [UserID: Milliseconds] = [:]
        var clients: [ClientID: (notBefore: Milliseconds, user: UserID)] = [:]
        /// For each user, the newest revocation of a device, and the number of revoked devices.
        var devices: [UserID: (newest: Milliseconds, count: Int)] = [:]
    }

    private var marks: [WorkspaceID: Marks] = [:]
    /// The number of the last known revocation.
    package private(set) var through: Int64 = 0

    package init() {}

    /// Adds a revocation, in the order of the numbers. A known one changes nothing.
    package mutating func add(_ revocation: Revocation) {
        through = max(through, revocation.number)
        var own = marks[revocation.workspace] ?? Marks()
        let time = revocation.notBefore
        switch revocation.subject {
        case .workspace: own.workspace = max(own.workspace ?? time, time)
        case .user(let user): own.users[user] = max(own.users[user] ?? time, time)
        case .client(let client, let user):
            let known = own.clients[client]
            own.clients[client] = (max(known?.notBefore ?? time, time), user)
            let devices = own.devices[user] ?? (time, 0)
            own.devices[user] = (max(devices.newest, time), devices.count + (known == nil ? 1 : 0))
        }
        marks[revocation.workspace] = own
    }

    /// Starts over after the database has gone back: its revocations are read from the beginning, and the known ones
    /// stay.
    package mutating func readAgain() { through = 0 }

    /// Drops revocations that are older than any token.
    package mutating func forget(before time: Milliseconds) {
        for (workspace, old) in marks {
            var own = Marks()
            own.workspace = old.workspace.flatMap { $0 >= time ? $0 : nil }
            own.users = old.users.filter { $0.value >= time }
            own.clients = old.clients.filter { $0.value.notBefore >= time }
            for (notBefore, user) in own.clients.values {
                let devices = own.devices[user] ?? (notBefore, 0)
                own.devices[user] = (max(devices.newest, notBefore), devices.count + 1)
            }
            let isEmpty = own.workspace == nil && own.users.isEmpty && own.clients.isEmpty
            marks[workspace] = isEmpty ? nil : own
        }
    }

    /// Returns the number of a user's revoked devices.
    package func revokedDevices(of user: UserID, in workspace: WorkspaceID) -> Int {
        marks[workspace]?.devices[user]?.count ?? 0
    }

    /// Returns the time from which on tokens of a device are valid; `nil` if none is revoked.
    package func notBefore(of client: ClientID, user: UserID, in workspace: WorkspaceID) -> Milliseconds? {
        guard let own = marks[workspace] else { return nil }
        return [own.workspace, own.users[user], own.clients[client]?.notBefore].compactMap(\.self).max()
    }

    /// Judges a token; `nil` if it is valid. A token without an issue time is treated as older than any revocation.
    package func judge(_ identity: Identity, _ device: DeviceClaim) -> RevokedToken? {
        guard let own = marks[identity.workspace] else { return nil }
        let (issued, user) = (identity.issuedAt ?? .min, identity.principal.user)
        if let time = own.users[user], issued < time { return .signedOut }
        switch device {
        case .named(let client):
            if let time = own.clients[client]?.notBefore, issued < time { return .signedOut }
        case .unnamed:
            if let time = own.devices[user]?.newest, issued < time { return .outdated }
        case .later: break
        }
        if let time = own.workspace, issued < time { return .outdated }
        return nil
    }

    /// Returns whether the token needs proof that a device is the user's: a token without a device would not be
    /// accepted.
    package func asksForDevice(_ identity: Identity) -> Bool { judge(identity, .unnamed) != judge(identity, .later) }
}
