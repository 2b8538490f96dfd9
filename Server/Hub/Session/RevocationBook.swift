package import TidemarkModel
package import TidemarkStore

/// Which device a token speaks for, where what is asked tells it.
package enum DeviceClaim: Hashable, Sendable {
    /// A device that is registered for the token's user, as is known or will be checked.
    case named(ClientID)
    /// Nothing is said: it may be any of the user's devices, and a new one.
    case unnamed
    /// What is asked will tell, and is judged then.
    case later
}

/// What stands against a token, see ``RevocationBook``.
package enum RevokedToken: Hashable, Sendable {
    /// Who has it is signed out, and stays so until a person signs in.
    case signedOut
    /// Another token does: nobody need notice.
    case outdated

    /// A sentence for whoever sent the token.
    package var reason: String {
        switch self {
        case .signedOut: "signed out: the token was revoked; sign in again"
        case .outdated: "the token was revoked; get another"
        }
    }
}

/// Whose tokens count no more: pure, and the same on every node.
///
/// A revoked device keeps its token, and a token names no device. So what names none is judged as if the revoked device had
/// sent it, and what names another device of the user goes on: nobody else is signed out.
package struct RevocationBook: Sendable {
    private struct Marks {
        var workspace: Milliseconds?
        var users: [UserID: Milliseconds] = [:]
        var clients: [ClientID: (notBefore: Milliseconds, user: UserID)] = [:]
        /// Of each user's devices the time of the last one.
        var devices: [UserID: (newest: Milliseconds, count: Int)] = [:]
    }

    private var marks: [WorkspaceID: Marks] = [:]
    /// The number of the last revocation that it knows.
    package private(set) var through: Int64 = 0

    package init() {}

    /// Takes what follows in the order of the numbers. What is known already changes nothing.
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

    /// The database has gone back: what it holds is read from its beginning, and what is known stays.
    package mutating func readAgain() { through = 0 }

    /// Drops what no token is old enough for.
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

    /// Devices of a user that are revoked.
    package func revokedDevices(of user: UserID, in workspace: WorkspaceID) -> Int {
        marks[workspace]?.devices[user]?.count ?? 0
    }

    /// From when on tokens of a device count; `nil` where nothing stands against any.
    package func notBefore(of client: ClientID, user: UserID, in workspace: WorkspaceID) -> Milliseconds? {
        guard let own = marks[workspace] else { return nil }
        return [own.workspace, own.users[user], own.clients[client]?.notBefore].compactMap(\.self).max()
    }

    /// What stands against a token; `nil` for nothing. A token that does not say when it was issued is older than anything.
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

    /// Whether a device has to be shown to be the user's: a token without a device would not do.
    package func asksForDevice(_ identity: Identity) -> Bool { judge(identity, .unnamed) != judge(identity, .later) }
}
