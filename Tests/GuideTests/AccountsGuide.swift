import Foundation
import Testing
import Tidemark

@Suite struct AccountsGuide {
    private struct Nowhere: Error {}

    private struct NoKeychain: SignInKeeping {
        func signIn() async throws -> KeptSignIn? { nil }
        func keep(_ signIn: KeptSignIn?) async throws {}
    }

    @Test func `without a server nobody is signed in, and nobody is told to log in`() async throws {
        let (keychain, password, device) = (NoKeychain(), "correct horse", UUID())
        @Sendable func post(_ path: String, _ body: Data) async throws -> (status: Int, body: Data) { throw Nowhere() }

        let accounts = AccountClient(keeping: keychain) { path, body in try await post(path, body) }
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
