package import TidemarkModel

/// Where accounts are kept, and which devices are signed in by them. A ``Store`` may be one as well.
///
/// Whoever changes something says what was read before (a version, a count), and nothing is changed when that is so no more.
package protocol AccountStore: Sendable {
    /// The account of a normalised name.
    func account(_ login: String, in workspace: WorkspaceID) async throws(StoreError) -> Account?

    /// The account of a user.
    func account(of user: UserID, in workspace: WorkspaceID) async throws(StoreError) -> Account?

    /// Those of a workspace in the order of their names' bytes, after one, at most `limit`.
    func accounts(
        in workspace: WorkspaceID, after login: String?, limit: Int
    ) async throws(StoreError) -> [Account]

    /// Adds one, unless its name or its user is taken. Makes the workspace where there is none.
    ///
    /// - Throws: also ``StoreError/erasedWorkspace``.
    func add(_ account: Account, in workspace: WorkspaceID) async throws(StoreError) -> AccountAddition

    /// Puts an account in place of the one with the same name and version; the stored one has the next version.
    ///
    /// - Parameter endingSignIns: in the same step no device is signed in any more.
    /// - Returns: false when there is no such version: nothing was changed.
    func replace(
        _ account: Account, endingSignIns: Bool, in workspace: WorkspaceID
    ) async throws(StoreError) -> Bool

    /// The device of a user, if it is signed in.
    func signIn(of client: ClientID, user: UserID, in workspace: WorkspaceID) async throws(StoreError) -> SignIn?

    /// Signs a device in, in place of what it was before. Of more than ``SignIn/perUserMax`` those that were used longest ago end.
    ///
    /// - Parameter version: of the account as it was read.
    /// - Returns: false when the account has changed since, or lets nobody in: nothing was changed.
    func beginSignIn(
        _ signIn: SignIn, version: Int64, in workspace: WorkspaceID
    ) async throws(StoreError) -> Bool

    /// Writes down that a refresh token was taken.
    ///
    /// - Parameter counter: as it was read; the nonce is that of `signIn`.
    /// - Returns: false when it is another by now: nothing was changed.
    func advance(_ signIn: SignIn, from counter: Int64, in workspace: WorkspaceID) async throws(StoreError) -> Bool

    /// Signs a device out.
    ///
    /// - Parameter nonce: only if it is signed in by this; `nil` for whatever it is signed in by.
    /// - Returns: false when it was not signed in so.
    func endSignIn(
        of client: ClientID, user: UserID, nonce: Int64?, in workspace: WorkspaceID
    ) async throws(StoreError) -> Bool

    /// Signs all devices of a user out.
    func endSignIns(of user: UserID, in workspace: WorkspaceID) async throws(StoreError)

    /// Forgets devices that were used before `time`, at most `limit`.
    ///
    /// - Returns: how many; `limit` means that there may be more.
    func forgetSignIns(
        usedBefore time: Milliseconds, in workspace: WorkspaceID, limit: Int
    ) async throws(StoreError) -> Int
}
