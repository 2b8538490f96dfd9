import TidemarkIdentity
import TidemarkModel
import TidemarkStore

/// `{"workspace","login","act":"add|disable|enable|reset"}`, with `"user"` for a new account, and `"why"`.
struct AccountAct: Sendable {
    enum Kind: String, Sendable {
        case add, disable, enable, reset
    }

    let workspace: WorkspaceID
    let login: LoginName
    let kind: Kind
    var user: UserID?
    var reason = ""

    init(decoding bytes: [UInt8]) throws {
        self = try JSONReader.read(bytes) { reader in
            var names: [String: String] = [:]
            try reader.object { reader, key in
                switch key {
                case "workspace", "login", "act", "user", "why": names[key] = try reader.string()
                default: throw reader.failure("unknown member \"\(key.excerpt())\"")
                }
            }
            guard let workspace = names["workspace"].flatMap(WorkspaceID.init(checking:)),
                let login = names["login"].flatMap({ LoginName($0) }),
                let kind = names["act"].flatMap(Kind.init(rawValue:))
            else { throw reader.failure("\"workspace\", \"login\" and \"act\" are required") }
            var act = AccountAct(workspace, login, kind)
            act.reason = names["why"] ?? ""
            guard let user = names["user"] else { return act }
            act.user = UserID(checking: user)
            guard act.user != nil, kind == .add else { throw reader.failure("\"user\" requires \"act\":\"add\"") }
            return act
        }
    }

    private init(_ workspace: WorkspaceID, _ login: LoginName, _ kind: Kind) {
        self.workspace = workspace
        self.login = login
        self.kind = kind
    }
}

/// `{"workspace","why"?,"accounts":[{"login","user"?,"hash"?,"created"?,"disabled"?},…]}`.
struct AccountImport: Sendable {
    var workspace: WorkspaceID
    var accounts: [Account]
    var reason: String

    /// - Parameters:
    ///   - max: accounts in one call.
    ///   - newUser: makes the user of an account that names none.
    ///   - now: the creation time of an account that states none.
    init(decoding bytes: [UInt8], max: Int, newUser: () -> UserID, now: Milliseconds) throws {
        (workspace, accounts, reason) = try JSONReader.read(bytes) { reader in
            var (workspace, accounts, reason): (WorkspaceID?, [Account], String) = (nil, [], "")
            try reader.object { reader, key in
                switch key {
                case "workspace": workspace = WorkspaceID(checking: try reader.string())
                case "why": reason = try reader.string()
                case "accounts":
                    try reader.array { reader in
                        guard accounts.count < max else { throw reader.failure("more than \(max) accounts") }
                        accounts.append(try Self.account(&reader, newUser: newUser, now: now))
                    }
                default: throw reader.failure("unknown member \"\(key.excerpt())\"")
                }
            }
            guard let workspace else { throw reader.failure("\"workspace\" is missing") }
            return (workspace, accounts, reason)
        }
    }

    private static func account(
        _ reader: inout JSONReader, newUser: () -> UserID, now: Milliseconds
    ) throws -> Account {
        var (login, user, hash, created, isDisabled): (LoginName?, UserID?, String, Milliseconds, Bool) =
            (nil, nil, "", now, false)
        try reader.object { reader, key in
            switch key {
            case "login":
                login = LoginName(try reader.string())
                if login == nil { throw reader.failure("\"login\" is invalid") }
            case "user":
                user = UserID(checking: try reader.string())
                if user == nil { throw reader.failure("\"user\" is invalid") }
            case "hash":
                hash = try reader.string()
                // Only hashes that can be checked later are stored.
                if !hash.isEmpty { hash = try PasswordHash(hash).text }
            case "created": created = min(now, Swift.max(0, try reader.integer()))
            case "disabled": isDisabled = try reader.boolean()
            default: throw reader.failure("unknown member \"\(key.excerpt())\"")
            }
        }
        guard let login else { throw reader.failure("an account without \"login\"") }
        return Account(
            login: login.text, user: user ?? newUser(), hash: hash, created: created,
            disabled: isDisabled ? now : nil)
    }
}
