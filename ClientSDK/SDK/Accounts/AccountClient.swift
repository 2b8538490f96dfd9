public import Foundation
import TidemarkModel

/// Signs a person in at a server that has accounts of its own, and gives the tokens that a store connects by.
///
///     let accounts = AccountClient(storage: keychain) { path, body in try await post(path, body) }
///     let user = try await accounts.logIn("ann@example.com", password: password, client: device)
///     try store.connect(to: server, transport: transport) { try await accounts.token() }
///
/// The client stores a new sign-in before it uses it, and uses it until the next one is stored: a lost answer signs
/// nobody out.
///
/// Create one client for each account on a device. Two that share one storage sign the device out.
public actor AccountClient {
    /// Carries a call to the server.
    ///
    /// - Parameters:
    ///   - path: the path of the call, such as `/v1/accounts/login`; it follows the server's address.
    ///   - body: JSON, to be sent by POST.
    /// - Returns: the HTTP status, and the whole body.
    /// - Throws: any error of the network. The client passes it on and signs nobody out.
    public typealias Post = @Sendable (_ path: String, _ body: Data) async throws -> (status: Int, body: Data)

    private let storage: any SignInStorage
    private let workspace: String?
    private let post: Post
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - workspace: the workspace, where the server has several with accounts; `nil` for its only one.
    ///   - storage: stores the sign-in, usually in a keychain.
    ///   - post: carries the calls.
    public init(workspace: String? = nil, storage: any SignInStorage, post: @escaping Post) {
        self.workspace = workspace
        self.storage = storage
        self.post = post
    }

    /// Creates an account and signs in to it.
    ///
    /// - Parameters:
    ///   - login: the login name, as the person types it.
    ///   - password: the password in clear text. It is sent over TLS and is not stored here.
    ///   - client: the device: `Diagnostics.client` of its store, or a UUID that the app keeps.
    /// - Returns: the user, for `SyncStore.open`.
    /// - Throws: ``AccountFailure``; errors of `post`.
    public func register(_ login: String, password: String, client: UUID) async throws -> UserID {
        try await signIn("register", ["login": login, "password": password, "client": client.text])
    }

    /// Signs in. Parameters and errors are those of ``register(_:password:client:)``.
    ///
    /// - Throws: ``AccountFailure``; errors of `post`.
    public func logIn(_ login: String, password: String, client: UUID) async throws -> UserID {
        try await signIn("login", ["login": login, "password": password, "client": client.text])
    }

    /// Sets a new password. The server signs all other devices out; the store of this device connects again.
    ///
    /// - Throws: ``AccountFailure``; errors of `post`.
    public func changePassword(of login: String, from old: String, to next: String, client: UUID) async throws {
        _ = try await signIn("password", ["login": login, "password": old, "new": next, "client": client.text])
    }

    /// Asks the server to send the account's owner a token that replaces a forgotten password. The answer does not
    /// reveal whether the account exists.
    ///
    /// - Throws: ``AccountFailure``; errors of `post`.
    public func askForReset(of login: String) async throws { _ = try await call("reset", ["login": login]) }

    /// Replaces a forgotten password with the token that ``askForReset(of:)`` sent, and signs in.
    ///
    /// - Throws: ``AccountFailure``; errors of `post`.
    public func reset(by token: String, password: String, client: UUID) async throws -> UserID {
        try await signIn("reset", ["reset": token, "password": password, "client": client.text])
    }

    /// Returns a fresh bearer token. Concurrent callers wait for each other; each of them makes its own call.
    ///
    /// - Throws: ``AccountFailure/signedOut`` when the person has to log in.
    ///   ``AccountFailure/unavailable(retryAfter:)`` and errors of `post` are temporary: the sign-in stays valid.
    public func token() async throws -> String {
        try await alone {
            guard let kept = try await storage.load() else { throw AccountFailure.signedOut }
            let fields: Fields
            do {
                fields = try await call("refresh", ["refresh": kept.refresh])
            } catch AccountFailure.rejected {
                // A login may have replaced the sign-in meanwhile: then it stays.
                if try await storage.load() == kept { try await storage.save(nil) }
                throw AccountFailure.signedOut
            }
            return try await keep(fields).token
        }
    }

    /// Signs this device out; its stored sign-in is deleted at once. When the server cannot be reached, the call
    /// throws, and tokens that were already issued stay valid until they expire.
    public func logOut() async throws {
        try await alone {
            guard let kept = try await storage.load() else { return }
            try await storage.save(nil)
            _ = try await call("logout", ["refresh": kept.refresh])
        }
    }

    private func signIn(_ path: String, _ members: [String: String]) async throws -> UserID {
        try await alone {
            let fields = try await call(path, members)
            return try await keep(fields).user
        }
    }

    /// Stores the answer's tokens before anything uses them.
    private func keep(_ fields: Fields) async throws -> (user: UserID, token: String) {
        guard case .string(let name)? = fields["user"], let user = UserID(checking: name),
            case .string(let token)? = fields["token"], case .string(let refresh)? = fields["refresh"]
        else { throw AccountFailure.notAnAnswer }
        try await storage.save(StoredSignIn(user: name, refresh: refresh))
        return (user, token)
    }

    /// Runs one call at a time: each refresh token comes from the call before.
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
        // A page of a proxy is not an answer of the server, whatever its status.
        guard let fields = try? JSONReader.read(Array(bytes), { try $0.fields() }) else {
            throw (500..<600).contains(status) ? AccountFailure.unavailable(retryAfter: nil) : .notAnAnswer
        }
        guard (200..<300).contains(status) else { throw AccountFailure(status, fields) }
        return fields
    }
}

extension UUID {
    /// The id in lower case, as the protocol writes ids.
    fileprivate var text: String { uuidString.lowercased() }
}
