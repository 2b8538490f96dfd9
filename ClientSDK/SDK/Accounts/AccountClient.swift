public import Foundation
import TidemarkModel

/// Signs a person in at a server that has accounts of its own, and gives the tokens that a store connects by.
///
///     let accounts = AccountClient(keeping: keychain) { path, body in try await post(path, body) }
///     let user = try await accounts.logIn("ann@example.com", password: password, client: device)
///     try store.connect(to: server, transport: transport) { try await accounts.token() }
///
/// What it was given last is kept before it is used, and used until another is kept: an answer that is lost signs nobody out.
/// Have one for each account on a device; two that share what is kept sign the device out.
public actor AccountClient {
    /// Carries a call to the server.
    ///
    /// - Parameters:
    ///   - path: such as `/v1/accounts/login`, to be put behind the server's address.
    ///   - body: JSON, to be sent by POST.
    /// - Returns: the HTTP status, and the whole body.
    /// - Throws: whatever is in the way; it is thrown on, and nobody is signed out by it.
    public typealias Post = @Sendable (_ path: String, _ body: Data) async throws -> (status: Int, body: Data)

    private let keeper: any SignInKeeping
    private let workspace: String?
    private let post: Post
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - workspace: where the server has several with accounts; `nil` for its only one.
    ///   - keeper: keeps what signs in, in a keychain as a rule.
    ///   - post: carries calls.
    public init(workspace: String? = nil, keeping keeper: any SignInKeeping, post: @escaping Post) {
        self.workspace = workspace
        self.keeper = keeper
        self.post = post
    }

    /// Makes an account, and signs in by it.
    ///
    /// - Parameters:
    ///   - login: a name, as a person gives it.
    ///   - password: in clear: it is sent over TLS and kept nowhere here.
    ///   - client: the device, as `Diagnostics.client` of its store names it; or a UUID that the app keeps.
    /// - Returns: the user, for `SyncStore.open`.
    /// - Throws: ``AccountFailure``; what carrying the call throws.
    public func register(_ login: String, password: String, client: UUID) async throws -> UserID {
        try await signIn("register", ["login": login, "password": password, "client": client.text])
    }

    /// Signs in; see ``register(_:password:client:)``.
    public func logIn(_ login: String, password: String, client: UUID) async throws -> UserID {
        try await signIn("login", ["login": login, "password": password, "client": client.text])
    }

    /// Sets another password. All other devices are signed out, and the store of this one connects again.
    ///
    /// - Throws: ``AccountFailure``; what carrying the call throws.
    public func changePassword(of login: String, from old: String, to next: String, client: UUID) async throws {
        _ = try await signIn("password", ["login": login, "password": old, "new": next, "client": client.text])
    }

    /// Asks for a token by which a forgotten password is replaced. It goes to the account's person; whether there is such an account
    /// is not told.
    public func askForReset(of login: String) async throws { _ = try await call("reset", ["login": login]) }

    /// Replaces a forgotten password by a token that came so, and signs in.
    public func reset(by token: String, password: String, client: UUID) async throws -> UserID {
        try await signIn("reset", ["reset": token, "password": password, "client": client.text])
    }

    /// A bearer token that is good from now on. Who asks meanwhile waits for the same answer and then asks for himself.
    ///
    /// - Throws: ``AccountFailure/signedOut`` when a person has to log in; ``AccountFailure/unavailable(retryAfter:)`` and what
    ///   carrying the call throws say nothing about that, and mend themselves.
    public func token() async throws -> String {
        try await alone {
            guard let kept = try await keeper.signIn() else { throw AccountFailure.signedOut }
            let fields: Fields
            do {
                fields = try await call("refresh", ["refresh": kept.refresh])
            } catch AccountFailure.refused {
                // Unless somebody has logged in meanwhile.
                if try await keeper.signIn() == kept { try await keeper.keep(nil) }
                throw AccountFailure.signedOut
            }
            return try await keep(fields).token
        }
    }

    /// Signs this device out, here at once. Without a way to the server an error is thrown, and what was given out until then ends there
    /// by itself.
    public func logOut() async throws {
        try await alone {
            guard let kept = try await keeper.signIn() else { return }
            try await keeper.keep(nil)
            _ = try await call("logout", ["refresh": kept.refresh])
        }
    }

    private func signIn(_ path: String, _ members: [String: String]) async throws -> UserID {
        try await alone {
            let fields = try await call(path, members)
            return try await keep(fields).user
        }
    }

    /// Keeps what was given before anybody uses it.
    private func keep(_ fields: Fields) async throws -> (user: UserID, token: String) {
        guard case .string(let name)? = fields["user"], let user = UserID(checking: name),
            case .string(let token)? = fields["token"], case .string(let refresh)? = fields["refresh"]
        else { throw AccountFailure.notAnAnswer }
        try await keeper.keep(KeptSignIn(user: name, refresh: refresh))
        return (user, token)
    }

    /// One call at a time: each refresh token is given out by the one before.
    private func alone<Value>(_ body: () async throws -> Value) async throws -> Value {
        while isBusy { await withCheckedContinuation { waiting.append($0) } }
        isBusy = true
        defer {
            isBusy = false
            let all = waiting
            waiting = []
            for each in all { each.resume() }
        }
        return try await body()
    }

    private func call(_ path: String, _ members: [String: String]) async throws -> Fields {
        var body = Fields()
        for (name, value) in members { body[name] = .string(value) }
        if let workspace { body["workspace"] = .string(workspace) }
        let (status, bytes) = try await post("/v1/accounts/\(path)", Data(body.canonicalBytes))
        if status == 204 { return Fields() }
        // A proxy's page is no answer of the server's, whatever its status.
        guard let fields = try? JSONReader.read(Array(bytes), { try $0.fields() }) else {
            throw (500..<600).contains(status) ? AccountFailure.unavailable(retryAfter: nil) : .notAnAnswer
        }
        guard (200..<300).contains(status) else { throw AccountFailure(status, fields) }
        return fields
    }
}

extension UUID {
    /// As ids are written.
    fileprivate var text: String { uuidString.lowercased() }
}
