import Testing
import TidemarkHub
import TidemarkModel
import TidemarkStore
import TidemarkWire

/// a connected user is given more scopes than fit.
@Suite struct CrowdedSessionTests {
    private static let rooms = (1...4).map { Grant(scope: ScopeID("room\($0)"), since: 20 + $0, role: .member) }

    /// A session of the wall and two rooms: no more fit.
    private static func full() throws -> OneSession {
        var one = try OneSession(tail: 22) { $0.scopesMax = 3 }
        one.connect(from: 22, snapshot: 22, grants: newest(2))
        acknowledge(&one)
        return one
    }

    /// The grants in the order of the store: the newest first.
    private static func newest(_ count: Int) -> [Grant] { rooms.prefix(count).reversed() }

    private static func acknowledge(_ one: inout OneSession) {
        one.say(.ack(Ack(frames: Int64(one.frames.count))))
    }

    private static func welcome(_ one: OneSession) -> Welcome? {
        one.sent.lazy.compactMap { if case .welcome(let welcome) = $0 { welcome } else { nil } }.first
    }

    @Test func `a connection that holds as many scopes as fit goes on`() throws {
        var one = try Self.full()
        one.pass(seconds: 200)
        #expect(one.closed == nil && one.session?.grants.count == 3)
        #expect(Self.welcome(one)?.leftOut == 0)
    }

    @Test func `a connection with too many scopes ends after a minute, and the next says how many are left out`()
        throws
    {
        var one = try Self.full()
        one.pass(seconds: 30)
        one.commit([], to: 23, granting: [Self.rooms[2]])
        #expect(one.frames.last?.grants.map(\.scope) == [Self.rooms[2].scope])
        Self.acknowledge(&one)
        one.pass(seconds: 29)
        #expect(one.closed == nil, "so that who is given many does not come again for each")
        one.pass(seconds: 1)
        #expect(one.closed == .goingAway)

        var next = try OneSession(tail: 23) { $0.scopesMax = 3 }
        next.connect(from: 23, snapshot: 23, grants: Self.newest(3))
        Self.acknowledge(&next)
        let welcome = try #require(Self.welcome(next))
        #expect(welcome.leftOut == 1 && next.session?.grants[Self.rooms[0].scope] == nil)
        next.pass(seconds: 200)
        #expect(next.closed == nil)
    }

    @Test func `a connection that fell behind is not told that memberships beyond the bound have ended`() throws {
        var one = try Self.full()
        one.miss(upTo: 60)
        one.answerAgain(snapshot: 60, lineage: OneSession.head(22), grants: Self.newest(4))
        #expect(!one.frames.contains { $0.grants.contains { $0.role == nil } })
        #expect(one.closed == .goingAway)
    }
}
