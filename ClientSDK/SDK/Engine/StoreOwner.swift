package import TidemarkModel
import TidemarkWire

/// The owner and the schema of a store. A server with another account or schema would fill the store with another
/// user's or another app's data, and refuse what is written here.
package struct StoreOwner: Hashable, Sendable {
    package var account: UserID
    /// The name of the schema.
    package var schema: String

    /// Returns the reason why the server is not this store's. `nil` for the right one, and for an older server, which
    /// names neither.
    func mismatch(_ welcome: Welcome) -> SyncFailure? {
        if let user = welcome.user, user != account {
            return SyncFailure(
                .otherAccount,
                "the token is for the user \(user), and the store belongs to \(account): give a token for \(account)")
        }
        if let name = welcome.schema?.name, name != schema {
            return SyncFailure(
                .otherSchema,
                "the server stores the schema \"\(name)\", and the app's is \"\(schema)\": connect to the app's own server"
            )
        }
        return nil
    }
}
