package import TidemarkModel

/// Stores accounts, and the devices that are signed in by them. A ``Store`` may be one as well.
///
/// A caller that changes something passes the version or count that it read; if that has changed, the call changes
/// nothing.
package protocol AccountStore: Sendable {
    /// Returns the account with a normalised name.
    func account(_ login: String, in workspace: WorkspaceID) async throws(StoreError) -> Account?

    /// Returns the account of a user.
    func account(of user: UserID, in workspace: WorkspaceID) async throws(StoreError) -> Account?

    /// Returns accounts of a workspace in the order of their names' bytes, those after `login`, at most `limit`.
    func accounts(
        in workspace: WorkspaceID, after login: String?, limit: Int
    ) async throws(StoreError) -> [Account]

    /// Adds an account, unless its name or its user is taken. Creates the workspace if needed.
    ///
    /// - Throws: also ``StoreError/erasedWorkspace``.
    func add(_ account: Account, in workspace: WorkspaceID) async throws(StoreError) -> AccountAddition

    /// Replaces the account with the same name and version; the stored one gets the next version.
    ///
    /// - Parameter endingSignIns: whether the same step signs all its devices out.
    /// - Returns: false when there is no such version: nothing was changed.
    func replace(
        _ account: Account, endingSignIns: Bool, in workspace: WorkspaceID
    ) async throws(StoreError) -> Bool

    /// Returns the sign-in of a user's device, if there is one.
    func signIn(of client: ClientID, user: UserID, in workspace: WorkspaceID) async throws(StoreError) -> SignIn?

    /// Signs a device in, replacing its earlier sign-in. If the user exceeds ``SignIn/perUserMax``, the sign-ins that
    /// were used longest ago end.
    ///
    /// - Parameter version: the account's version as it was read.
    /// - Returns: false when the account has changed since, or is disabled: nothing was changed.
    func beginSignIn(
        _ signIn: SignIn, version: Int64, in workspace: WorkspaceID
    ) async throws(StoreError) -> Bool

    /// Records that a refresh token was used.
    ///
    /// - Parameter counter: the counter as it was read; the nonce is that of `signIn`.
    /// - Returns: false when the counter has changed: nothing was changed.
    func advance(_ signIn: SignIn, from counter: Int64, in workspace: WorkspaceID) async throws(StoreError) -> Bool

    /// Signs a device out.
    ///
    /// - Parameter nonce: the sign-in to end; `nil` for any.
    /// - Returns: false when the device had no such sign-in.
    func endSignIn(
        of client: ClientID, user: UserID, nonce: Int64?, in workspace: WorkspaceID
    ) async throws(StoreError) -> Bool

    /// Signs all devices of a user out.
    func endSignIns(of user: UserID, in workspace: WorkspaceID) async throws(StoreError)

    /// Forgets sign-ins that were last used before `time`, at most `limit`.
    ///
    /// - Returns: the number of forgotten ones; `limit` means that there may be more.
    func forgetSignIns(
        usedBefore time: Milliseconds, in workspace: WorkspaceID, limit: Int
    ) async throws(StoreError) -> Int
}
