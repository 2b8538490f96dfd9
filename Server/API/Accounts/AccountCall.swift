import TidemarkModel

/// The body of a call of accounts; each call needs some of the members.
struct AccountCall: Sendable {
    static let bytesMax = 16 * 1_024

    var workspace: WorkspaceID?
    var login: String?
    var password: String?
    /// The new password.
    var next: String?
    var client: ClientID?
    var refresh: String?
    var reset: String?

    init(decoding bytes: [UInt8]) throws {
        try JSONReader.read(bytes) { reader in
            try reader.object { reader, key in
                switch key {
                case "workspace":
                    guard let id = WorkspaceID(checking: try reader.string()) else {
                        throw reader.failure("\"workspace\" is invalid")
                    }
                    workspace = id
                case "client":
                    guard let id = UniqueID(try reader.string()) else { throw reader.failure("\"client\" is invalid") }
                    client = id
                case "login": login = try reader.string()
                case "password": password = try reader.string()
                case "new": next = try reader.string()
                case "refresh": refresh = try reader.string()
                case "reset": reset = try reader.string()
                default: try reader.skip()
                }
            }
        }
    }
}

/// A call with its caller's address and workspace.
struct AccountVisit: Sendable {
    let call: AccountCall
    /// The caller's address.
    let peer: String?
    let workspace: WorkspaceID
    let desk: AccountService
}
