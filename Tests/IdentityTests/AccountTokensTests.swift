import Testing
import TidemarkModel

@testable import TidemarkIdentity

/// The tokens of accounts: their signer, and their claims (R-126).
@Suite struct AccountTokensTests {
    private let acme = WorkspaceID("acme")
    private let one: TokenSecret
    private let two: TokenSecret

    init() throws {
        one = try #require(TokenSecret([UInt8](repeating: 1, count: 32)))
        two = try #require(TokenSecret([UInt8](repeating: 2, count: 32)))
    }

    private func keys(_ secrets: TokenSecret...) async throws -> AccountKeys {
        try await AccountKeys(secrets, lifetime: .seconds(900))
    }

    @Test func `an access token is like any issuer's token, to the millisecond`() async throws {
        let keys = try await keys(one)
        let time = start * 1_000 + 123
        let (token, expires) = try keys.access(UserID("ann"), in: acme, at: time)
        let verified = await verifier([keys.issuer, .own([one])]).accepted(token)
        #expect(
            verified
                == VerifiedToken(
                    user: UserID("ann"), workspace: acme, isService: false, isOperator: false, issuedAt: time,
                    expiresAt: expires, acceptedUntil: expires + 60_000))
        #expect(expires == (start + 900) * 1_000)
        for milliseconds in 0..<1_000 as Range<Int64> {
            let token = try keys.access(UserID("ann"), in: acme, at: start * 1_000 + milliseconds).token
            #expect(await verifier([keys.issuer]).accepted(token)?.issuedAt == start * 1_000 + milliseconds)
        }
    }

    @Test func `no other key makes one, not even the server's own secret`() async throws {
        let keys = try await keys(one)
        let other = try await self.keys(two).access(UserID("ann"), in: acme, at: start * 1_000).token
        #expect(await verifier([keys.issuer, .own([one])]).label(other) == "unknown_key")
        let forged = try TestKey.hs256([UInt8](repeating: 1, count: 32)).sign(
            #"{"iss":"tidemark:accounts","sub":"ann","ws":"acme","iat":\#(start),"exp":\#(start + 60)}"#)
        #expect(await verifier([keys.issuer, .own([one])]).label(forged) == "algorithm_not_allowed")
    }

    @Test func `of several secrets the first signs, and all are accepted`() async throws {
        let (old, both) = (try await keys(one), try await keys(two, one))
        let token = try old.access(UserID("ann"), in: acme, at: start * 1_000).token
        #expect(await verifier([both.issuer]).label(token) == "accepted")
        let refresh = RefreshToken(user: UserID("ann"), client: UniqueID(high: 1, low: 2), nonce: -3, number: 4)
        #expect(both.refreshToken(old.text(of: refresh, in: acme), in: acme) == refresh)
        #expect(old.refreshToken(both.text(of: refresh, in: acme), in: acme) == nil)
    }

    @Test func `a refresh token is valid in its workspace as it was given out, and in no other form`() async throws {
        let keys = try await keys(one)
        for user in ["a", "ann", String(repeating: "\u{1F600}", count: 32)] {
            let token = RefreshToken(
                user: UserID(user), client: UniqueID(high: .max, low: 7), nonce: .min, number: .max - 1)
            let text = keys.text(of: token, in: acme)
            #expect(keys.refreshToken(text, in: acme) == token)
            #expect(keys.refreshToken(text, in: WorkspaceID("acm")) == nil)
            let letters = Array(text)
            for place in letters.indices {
                var changed = letters
                changed[place] = changed[place] == "A" ? "B" : "A"
                #expect(keys.refreshToken(String(changed), in: acme) == nil, "letter \(place)")
                #expect(keys.refreshToken(String(letters.prefix(place)), in: acme) == nil)
            }
        }
        for text in ["", "tmr1.", "tmr1.AAAA", "tmr1." + String(repeating: "A", count: 600), "x.y.z"] {
            #expect(keys.refreshToken(text, in: acme) == nil)
        }
    }

    @Test func `a token for a new password names its user, and only its digest is stored`() throws {
        var next: UInt64 = 0
        func random() -> UInt64 {
            next += 1
            return next
        }
        let (token, other) = (
            ResetToken(for: UserID("ann"), random: random), ResetToken(for: UserID("ann"), random: random)
        )
        let read = try #require(ResetToken(token.text))
        #expect(read.user == UserID("ann") && read.isKept(as: token.digest))
        #expect(!read.isKept(as: other.digest) && !read.isKept(as: "") && !token.digest.contains(token.text))
        for text in ["", "tms1.", "tms1.AAAA", token.text + "*", String(token.text.dropFirst())] {
            #expect(ResetToken(text) == nil, "\(text)")
        }
    }
}
