import Testing
import TidemarkHub
import TidemarkModel
import TidemarkWire

/// The check of a token runs elsewhere and may take a while.
@Suite struct TokenCheckTests {
    private static let push = Push(first: 1, ackedThrough: 0, entries: [])

    /// A client that has sent hello and whose token is being checked.
    private func greeting() throws -> OneSession {
        var one = try OneSession(tail: 10)
        one.holdsTokens = true
        one.connect(from: nil, snapshot: 10)
        #expect(one.tokens == ["ann"] && one.loads.isEmpty && one.sent.isEmpty && one.closed == nil)
        return one
    }

    /// A welcomed client whose next tokens are checked on request.
    private func welcomed(expires: Milliseconds = 3_600_000) throws -> OneSession {
        var one = try OneSession(tail: 10, expires: expires)
        one.connect(from: nil, snapshot: 10)
        one.holdsTokens = true
        return one
    }

    private func ends(_ one: OneSession) -> [Milliseconds] {
        one.sent.compactMap { if case .authOK(let answer) = $0 { answer.expires } else { nil } }
    }

    @Test func `nothing is read before the verdict`() throws {
        var one = try greeting()
        one.judge("ann")
        #expect(one.loads.count == 1 && one.closed == nil)
    }

    @Test func `a refused client gets a new token, and one that could not be judged comes again with the same`() throws
    {
        var refused = try greeting()
        refused.judge("ann", as: .refused("the token has expired"))
        #expect(refused.closed == .unauthenticated && refused.loads.isEmpty)
        var unjudged = try greeting()
        unjudged.judge("ann", as: .unavailable)
        #expect(unjudged.closed == .unavailable && unjudged.loads.isEmpty)
    }

    @Test func `a missing verdict is held against no client`() throws {
        var one = try greeting()
        one.pass(milliseconds: 4_999)
        #expect(one.closed == nil)
        one.pass(milliseconds: 1)
        #expect(one.closed == .unavailable)
        one.judge("ann")
        #expect(one.loads.isEmpty)
    }

    @Test func `a client that is not known yet may send nothing else`() throws {
        for message in [.push(Self.push), .auth(Auth(token: "ann")), .ack(Ack(frames: 0))] as [ClientMessage] {
            var one = try greeting()
            one.say(message)
            #expect(one.closed == .protocolViolation)
        }
    }

    @Test func `tokens of an open connection are checked one after the other, and at most four wait`() throws {
        var one = try welcomed()
        let end = one.now + 100_000
        for place in 0..<4 as Range<Int64> { one.say(.auth(Auth(token: "ann \(end + place)"))) }
        #expect(one.tokens == ["ann \(end)"])
        for place in 0..<4 as Range<Int64> { one.judge("ann \(end + place)") }
        #expect(ends(one) == [end, end + 1, end + 2, end + 3] && one.tokens.count == 4)
        for _ in 0..<4 { one.say(.auth(Auth(token: "ann"))) }
        #expect(one.closed == nil)
        one.say(.auth(Auth(token: "ann")))
        #expect(one.closed == .rateLimited)
    }

    @Test func `a token that is too long is not kept for its check`() throws {
        var one = try welcomed()
        one.say(.auth(Auth(token: String(repeating: "a", count: 8_192))))
        #expect(one.closed == nil && one.tokens.count == 1)
        one.say(.auth(Auth(token: String(repeating: "a", count: 8_193))))
        #expect(one.closed == .unauthenticated && one.tokens.count == 1)
    }

    @Test func `a connection outlives its token while another is being checked, but not for ever`() throws {
        var renewed = try welcomed(expires: 10_000)
        renewed.pass(milliseconds: 9_000)
        let token = "ann \(renewed.now + 60_000)"
        renewed.say(.auth(Auth(token: token)))
        renewed.pass(milliseconds: 2_000)
        #expect(renewed.closed == nil)
        renewed.judge(token)
        renewed.pass(milliseconds: 20_000)
        #expect(renewed.closed == nil)

        var left = try welcomed(expires: 10_000)
        left.say(.auth(Auth(token: "ann")))
        left.pass(milliseconds: 14_999)
        #expect(left.closed == nil)
        left.pass(milliseconds: 1)
        #expect(left.closed == .unavailable)
    }

    @Test func `an unrequested verdict changes nothing`() throws {
        var one = try welcomed()
        let before = one.sent.count
        one.judge("eve")
        #expect(one.closed == nil && one.sent.count == before)
        #expect(one.session?.identity?.principal.user == UserID("ann"))
    }
}
