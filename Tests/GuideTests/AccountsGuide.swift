import Foundation
import Testing
import Tidemark

@Suite struct AccountsGuide {
    private struct Nowhere: Error {}

    private struct NoKeychain: SignInStorage {
        func load() async throws -> StoredSignIn? { nil }
        func save(_ signIn: StoredSignIn?) async throws {}
    }

    @Test func `without a server no user is signed in, and none is told to log in`() async throws {
        let (keychain, password, device) = (NoKeychain(), "correct horse", UUID())
        @Sendable func post(_ path: String, _ body: Data) async throws -> (status: Int, body: Data) { throw Nowhere() }

        let accounts = AccountClient(storage: keychain) { path, body in try await post(path, body) }
        await #expect(throws: Nowhere.self) {
            let user = try await accounts.logIn("ann@example.com", password: password, client: device)
            _ = user
        }
        await #expect(throws: AccountFailure.signedOut) { try await accounts.token() }
    }
}

func connect(_ store: SyncStore, to server: String, _ transport: any Transport, _ accounts: AccountClient) throws {
    try store.connect(to: server, transport: transport) { try await accounts.token() }
}

// Compiled, not run: the tests of the server's accounts run it.
func passwords(_ accounts: AccountClient, _ password: String, _ another: String, token: String, _ device: UUID)
    async throws
{
    try await accounts.changePassword(of: "ann@example.com", from: password, to: another, client: device)
    try await accounts.askForReset(of: "ann@example.com")  // to the person; nobody is told whether there is one
    _ = try await accounts.reset(by: token, password: another, client: device)
    try await accounts.logOut()  // here at once; at the server too, where it can be reached
}
