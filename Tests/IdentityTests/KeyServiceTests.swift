import Logging
import Testing
import TidemarkLock
import TidemarkModel

@testable import TidemarkIdentity

/// Fetched keys, from the token to the answer, with an endpoint in memory.
@Suite(.timeLimit(.minutes(1))) struct KeyServiceTests {
    @Test func `tokens that arrive together wait for one fetch`() async throws {
        let key = try TestKey.es256("a")
        try await Endpoint.running(serving: TestKey.set(key), held: true) { endpoint, verifier async throws in
            let token = try key.sign(claims())
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<100 { group.addTask { await verifier.label(token) } }
                await endpoint.asked()
                endpoint.release()
                for try await label in group { #expect(label == "accepted") }
            }
            #expect(endpoint.fetches == 1)
        }
    }

    @Test func `keys that are rotated sign no user out`() async throws {
        let (old, new) = (try TestKey.es256("a"), try TestKey.es256("b"))
        try await Endpoint.running(serving: TestKey.set(old)) { endpoint, verifier async throws in
            #expect(try await verifier.label(old.sign(claims())) == "accepted")
            endpoint.serve(TestKey.set(old, new))
            // The keys were fetched a moment ago: the token waits for the next ones.
            async let label = verifier.label(try new.sign(claims()))
            try await endpoint.waiting(1)
            endpoint.pass(seconds: 10)
            #expect(try await label == "accepted")
            #expect(try await verifier.label(old.sign(claims())) == "accepted")
            #expect(endpoint.fetches == 2)
            endpoint.serve(TestKey.set(new))
            endpoint.pass(seconds: 10)
            #expect(try await verifier.label(TestKey.es256("c").sign(claims())) == "unknown_key")
            #expect(try await verifier.label(new.sign(claims())) == "accepted")
            // A removed kid is unknown, once a fetch has shown it.
            endpoint.pass(seconds: 10)
            #expect(try await verifier.label(old.sign(claims())) == "unknown_key")
        }
    }

    @Test func `a key that is replaced under its kid is found`() async throws {
        let (old, new) = (try TestKey.es256("a"), try TestKey.es256("a"))
        try await Endpoint.running(serving: TestKey.set(old)) { endpoint, verifier async throws in
            #expect(try await verifier.label(old.sign(claims())) == "accepted")
            endpoint.serve(TestKey.set(new))
            endpoint.pass(seconds: 10)
            #expect(try await verifier.label(new.sign(claims())) == "accepted")
            endpoint.pass(seconds: 10)
            #expect(try await verifier.label(old.sign(claims())) == "bad_signature")
        }
    }

    @Test func `while the endpoint is down tokens of known keys are accepted and no other is refused for its key`()
        async throws
    {
        let (key, other) = (try TestKey.es256("a"), try TestKey.es256("b"))
        try await Endpoint.running(serving: TestKey.set(key)) { endpoint, verifier async throws in
            #expect(try await verifier.label(key.sign(claims())) == "accepted")
            endpoint.serve(nil)
            for _ in 0..<6 {
                endpoint.pass(seconds: 600)
                let times = ["iat": "\(endpoint.seconds)", "exp": "\(endpoint.seconds + 60)"]
                #expect(try await verifier.label(key.sign(claims(times))) == "accepted")
                #expect(try await verifier.label(other.sign(claims(times))) == "unavailable")
            }
            endpoint.pass(seconds: 24 * 3_600)
            let times = ["iat": "\(endpoint.seconds)", "exp": "\(endpoint.seconds + 60)"]
            #expect(try await verifier.label(key.sign(claims(times))) == "unavailable")
            endpoint.serve(TestKey.set(key))
            endpoint.pass(seconds: 10)
            let later = ["iat": "\(endpoint.seconds)", "exp": "\(endpoint.seconds + 60)"]
            #expect(try await verifier.label(key.sign(claims(later))) == "accepted")
        }
    }

    @Test func `without keys a token is neither good nor bad, but other mistakes in it are reported`() async throws {
        let key = try TestKey.es256("a")
        try await Endpoint.running(serving: nil) { _, verifier async throws in
            #expect(try await verifier.label(key.sign(claims())) == "unavailable")
            #expect(
                try await verifier.label(key.sign(claims(["exp": "\(start - 60)", "iat": "\(start - 70)"])))
                    == "token_expired")
            #expect(
                try await verifier.label(TestKey.hs256([UInt8](repeating: 7, count: 40)).sign(claims()))
                    == "algorithm_not_allowed")
        }
    }

    @Test func `a flood of kids does not block a good one`() async throws {
        let key = try TestKey.es256("a")
        try await Endpoint.running(serving: TestKey.set(key)) { endpoint, verifier async throws in
            let good = try key.sign(claims())
            #expect(await verifier.label(good) == "accepted")
            try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<500 {
                    let token = try key.sign(claims(), header: #"{"alg":"ES256","kid":"k\#(number)"}"#)
                    group.addTask { await verifier.label(token) }
                }
                try await endpoint.waiting(500)
                #expect(await verifier.label(good) == "accepted")
                #expect(endpoint.fetches == 1)
                endpoint.pass(seconds: 10)
                for try await label in group { #expect(label == "unknown_key") }
            }
            #expect(endpoint.fetches == 2)
        }
    }

    @Test func `a token that waits for the next fetch is answered at the end that keys are unavailable`() async throws {
        let key = try TestKey.es256("a")
        let endpoint = Endpoint(serving: TestKey.set(key))
        let (service, verifier) = try await endpoint.verifier()
        let running = Task { await service.run() }
        #expect(try await verifier.label(key.sign(claims())) == "accepted")
        async let label = verifier.label(try TestKey.es256("b").sign(claims()))
        try await endpoint.waiting(1)
        running.cancel()
        await running.value
        #expect(try await label == "unavailable")
        #expect(try await verifier.label(key.sign(claims())) == "accepted", "known keys need nobody")
    }

    @Test func `a token after the end is answered that keys are unavailable`() async throws {
        let key = try TestKey.es256("a")
        let endpoint = Endpoint(serving: TestKey.set(key))
        let (service, verifier) = try await endpoint.verifier()
        let running = Task { await service.run() }
        running.cancel()
        await running.value
        #expect(try await verifier.label(key.sign(claims())) == "unavailable")
    }
}

/// An endpoint for keys in memory, with a clock.
private final class Endpoint: Sendable {
    private struct State {
        var document: String?
        var fetches = 0
        var milliseconds = start * 1_000
        var isHeld: Bool
        var held: [CheckedContinuation<Void, Never>] = []
        var askers: [CheckedContinuation<Void, Never>] = []
        var service: KeyService?
    }

    private let state: Lock<State>
    private let clock = PushedClock()

    init(serving document: String?, held: Bool = false) {
        state = Lock(State(document: document, isHeld: held))
    }

    /// Runs a verifier whose only issuer has its keys at this endpoint.
    static func running(
        serving document: String?, held: Bool = false, _ body: (Endpoint, TokenVerifier) async throws -> Void
    ) async throws {
        let endpoint = Endpoint(serving: document, held: held)
        let (service, verifier) = try await endpoint.verifier()
        let running = Task { await service.run() }
        do {
            try await body(endpoint, verifier)
        } catch {
            running.cancel()
            throw error
        }
        running.cancel()
        await running.value
    }

    func verifier() async throws -> (KeyService, TokenVerifier) {
        let text = document(#"{"url": "https://id.example/keys"}"#, #""ES256", "RS256""#)
        let issuers = try await IssuerFile(Array(text.utf8)) { _ in nil }.issuers()
        let now: @Sendable () -> Milliseconds = { self.state.withLock { $0.milliseconds } }
        let service = KeyService(
            for: issuers, now: now, clock: clock,
            logger: .quiet
        ) { _ throws(KeyFetchError) in try await self.fetch() }
        state.withLock { $0.service = service }
        return (service, TokenVerifier(issuers, keys: service, now: now))
    }

    var fetches: Int { state.withLock { $0.fetches } }
    var seconds: Int64 { state.withLock { $0.milliseconds / 1_000 } }
    func pass(seconds: Int64) {
        state.withLock { $0.milliseconds += seconds * 1_000 }
        clock.push()
    }

    /// Waits until so many tokens wait for keys.
    func waiting(_ count: Int) async throws {
        try await eventually { state.withLock({ $0.service?.waiters(for: 0) ?? 0 }) >= count }
    }

    func serve(_ document: String?) { state.withLock { $0.document = document } }

    /// Waits until a fetch has begun.
    func asked() async {
        await withCheckedContinuation { asker in
            let isAsked = state.withLock { state in
                if state.fetches == 0 { state.askers.append(asker) }
                return state.fetches > 0
            }
            if isAsked { asker.resume() }
        }
    }

    func release() {
        let held = state.withLock { state in
            state.isHeld = false
            defer { state.held = [] }
            return state.held
        }
        for fetch in held { fetch.resume() }
    }

    private func fetch() async throws(KeyFetchError) -> KeyService.Fetched {
        await withCheckedContinuation { fetch in
            let (askers, isHeld) = state.withLock { state in
                state.fetches += 1
                defer { state.askers = [] }
                if state.isHeld { state.held.append(fetch) }
                return (state.askers, state.isHeld)
            }
            for asker in askers { asker.resume() }
            if !isHeld { fetch.resume() }
        }
        guard let document = state.withLock({ $0.document }) else { throw KeyFetchError("it is down") }
        do throws(KeyReadingError) {
            return KeyService.Fetched(keys: try await KeySet(jwks: Array(document.utf8)), freshFor: nil)
        } catch {
            throw KeyFetchError("\(error)")
        }
    }
}

/// A clock whose sleepers wake when it is pushed.
private final class PushedClock: Clock {
    typealias Instant = ContinuousClock.Instant
    private let (pushes, pushed) = AsyncStream<Void>.makeStream()
    var now: Instant { ContinuousClock().now }
    var minimumResolution: Duration { .nanoseconds(1) }

    func push() { pushed.yield() }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        for await _ in pushes { return }
        throw CancellationError()
    }
}
