import Foundation
import Testing
import Tidemark
import TidemarkLock

/// A device that is signed in with an account, whichever answers are lost.
@Suite(.timeLimit(.minutes(5))) struct AccountClientTests {
    private struct Lost: Error {}

    /// A server with one account. The last token gives the next; the one before gives the same next again; an older one
    /// ends all.
    private final class Server: Sendable {
        struct State {
            var counter = 0
            var calls: [String] = []
            /// The number of answers that do not arrive.
            var lost = 0
            var status = 200
            var isOver = false
        }

        let state = Lock(State())

        @Sendable func post(_ path: String, _ body: Data) async throws -> (status: Int, body: Data) {
            let members = try JSONDecoder().decode([String: String].self, from: body)
            let answer = state.withLock { state -> (Int, String)? in
                state.calls.append(path)
                guard state.status == 200 else { return (state.status, #"{"code":"overloaded","retry_ms":1500}"#) }
                switch path {
                case "/v1/accounts/login" where members["password"] == "right":
                    (state.counter, state.isOver) = (1, false)
                case "/v1/accounts/refresh":
                    let number = Int(members["refresh"] ?? "") ?? -1
                    if state.isOver || number < state.counter - 1 || number > state.counter { state.isOver = true }
                    if state.isOver { return (401, #"{"code":"unauthenticated"}"#) }
                    state.counter = number + 1
                case "/v1/accounts/logout": return (204, "")
                default: return (401, #"{"code":"unauthenticated"}"#)
                }
                let count = state.counter
                if state.lost > 0 {
                    state.lost -= 1
                    return nil
                }
                return (200, #"{"user":"ann","token":"t\#(count)","exp":1,"refresh":"\#(count)"}"#)
            }
            await Task.yield()
            guard let (status, text) = answer else { throw Lost() }
            return (status, Data(text.utf8))
        }
    }

    private final class Keeper: SignInStorage {
        let kept = Lock<StoredSignIn?>(nil)
        let isFull = Lock(false)

        func load() async throws -> StoredSignIn? { kept.withLock { $0 } }

        func save(_ signIn: StoredSignIn?) async throws {
            if isFull.withLock({ $0 }) { throw Lost() }
            kept.withLock { $0 = signIn }
        }
    }

    private let server = Server()
    private let keeper = Keeper()

    private func loggedIn() async throws -> AccountClient {
        let client = AccountClient(storage: keeper, post: server.post)
        #expect(try await client.logIn("ann", password: "right", client: UUID()) == UserID("ann"))
        return client
    }

    @Test func `each token is requested with the one that was stored last, also after lost answers`() async throws {
        let client = try await loggedIn()
        #expect(try await client.token() == "t2")
        for _ in 0..<3 {
            server.state.withLock { $0.lost = 2 }
            for _ in 0..<2 { await #expect(throws: Lost.self) { try await client.token() } }
            _ = try await client.token()
        }
        #expect(try await client.token() == "t6")
        // Another start of the app continues.
        #expect(try await AccountClient(storage: keeper, post: server.post).token() == "t7")
    }

    @Test func `simultaneous callers are served one after the other`() async throws {
        let client = try await loggedIn()
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await client.token() } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(tokens.count == 20 && server.state.withLock { $0.counter } == 21)
    }

    @Test func `a token that could not be stored is given again`() async throws {
        let client = try await loggedIn()
        keeper.isFull.withLock { $0 = true }
        await #expect(throws: Lost.self) { try await client.token() }
        await #expect(throws: Lost.self) { try await client.token() }
        keeper.isFull.withLock { $0 = false }
        #expect(try await client.token() == "t2")
    }

    @Test func `only the server's refusal signs out, and a busy server or a proxy does not`() async throws {
        let client = try await loggedIn()
        for (status, failure) in [
            (503, AccountFailure.unavailable(retryAfter: .milliseconds(1_500))),
            (429, .unavailable(retryAfter: .milliseconds(1_500))), (401, .notAnAnswer), (404, .notAnAnswer),
        ] {
            server.state.withLock { $0.status = status }
            await #expect(throws: failure) { try await client.token() }
            #expect(keeper.kept.withLock { $0 } != nil)
        }
        server.state.withLock { ($0.status, $0.isOver) = (200, true) }
        await #expect(throws: AccountFailure.signedOut) { try await client.token() }
        #expect(keeper.kept.withLock { $0 } == nil)
        await #expect(throws: AccountFailure.signedOut) { try await client.token() }
        await #expect(throws: AccountFailure.rejected) {
            try await client.logIn("ann", password: "wrong", client: UUID())
        }
        _ = try await client.logIn("ann", password: "right", client: UUID())
        try await client.logOut()
        #expect(keeper.kept.withLock { $0 } == nil)
        #expect(server.state.withLock { $0.calls.last } == "/v1/accounts/logout")
    }
}
