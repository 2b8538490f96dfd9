import Testing
import TidemarkModel
import TidemarkStore

/// The count of a device's refresh tokens, whichever answers are lost.
@Suite struct SignInTests {
    private static let fresh = SignIn(user: UserID("ann"), client: .numbered(1), nonce: 5, began: 1_000)

    /// All sequences with this number of steps.
    private static func sequences<Step>(_ steps: [Step], _ count: Int) -> [[Step]] {
        (0..<count).reduce([[]]) { some, _ in some.flatMap { start in steps.map { start + [$0] } } }
    }

    @Test func `each token gives the next, the same again gives the same, and an older one is stale`() {
        for (number, use, counter) in [
            (5, .taken, 6), (4, .again, 5), (3, .stale, 5), (0, .stale, 5), (-1, .stale, 5), (.min, .stale, 5),
            // The database went back: tokens that it gave out since are valid.
            (6, .taken, 7), (900, .taken, 901), (.max, .stale, 5),
        ] as [(Int64, SignIn.Use, Int64)] {
            var signIn = Self.fresh
            signIn.counter = 5
            #expect(signIn.use(number, now: 2_000) == use, "\(number)")
            #expect(signIn.counter == counter, "\(number)")
            #expect(signIn.used == (use == .taken ? 2_000 : 1_000), "\(number)")
        }
    }

    @Test func `in whatever order answers are lost, a device continues with its token`() {
        enum Step: CaseIterable { case answered, lost, cameTwice }
        for steps in Self.sequences(Step.allCases, 7) {
            var (signIn, token) = (Self.fresh, Int64(1))
            for step in steps {
                let use = signIn.use(token, now: 2_000)
                #expect(use != .stale, "\(steps)")
                if step == .cameTwice { #expect(signIn.use(token, now: 2_000) == .again, "\(steps)") }
                #expect(signIn.counter == token + 1, "\(steps)")
                if step != .lost { token = signIn.counter }
            }
        }
    }

    @Test func `of two holders of one token, the one that has missed two is detected`() {
        for steps in Self.sequences([0, 1], 10) {
            // The device and the thief, each with its last token, and the number of tokens that the other has used
            // since.
            var (signIn, tokens, missed) = (Self.fresh, [Int64](repeating: 1, count: 2), [0, 0])
            for who in steps {
                let use = signIn.use(tokens[who], now: 2_000)
                #expect((use == .stale) == (missed[who] >= 2), "\(steps)")
                if use == .stale { break }
                if use == .taken { missed[1 - who] += 1 }
                (tokens[who], missed[who]) = (signIn.counter, 0)
            }
        }
    }

    @Test func `a database that went back signs no device out`() {
        var signIn = Self.fresh
        for _ in 0..<5 { _ = signIn.use(signIn.counter, now: 2_000) }
        let backup = signIn
        let devices = (0..<4).map { _ in
            _ = signIn.use(signIn.counter, now: 2_000)
            return signIn.counter
        }
        for token in devices {
            var restored = backup
            #expect(restored.use(token, now: 3_000) == .taken && restored.counter == token + 1)
        }
    }

    @Test func `a device that was unused for long is signed out`() {
        let signIn = Self.fresh
        #expect(!signIn.isOver(after: 500, now: 1_500) && signIn.isOver(after: 500, now: 1_501))
        #expect(!signIn.isOver(after: 500, now: 0))
    }
}
