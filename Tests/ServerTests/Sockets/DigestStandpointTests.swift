import Crypto
import Testing
import TidemarkModel
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkHub

/// A client that sends digests of its scopes gets the same welcome as one that lists them.
@Suite struct DigestStandpointTests {
    private static let workspace = WorkspaceID("w")

    private func context(scopesMax: Int = WireLimits().scopesMax) throws -> SessionContext {
        var limits = WireLimits()
        limits.scopesMax = scopesMax
        return SessionContext(
            serverName: "t", schema: try ServerConfiguration.sampleSchema(), limits: limits,
            seal: CursorSeal(key: SymmetricKey(data: Array("a key of the test suite".utf8))))
    }

    private func head(_ seq: SequenceNumber) -> Head { Head(seq: seq, nonce: UInt64(seq), time: 1, epoch: 1) }

    private func welcome(_ standing: Standpoint) -> Welcome {
        Welcome(
            server: "t", epoch: 1, cursorState: standing.state, cursor: "c", kept: standing.kept,
            purged: standing.purged, added: standing.added, settledThrough: 0, now: 0, tokenExpires: 0, heartbeat: 0,
            limits: WireLimits(), rewind: standing.rewind, roles: standing.changed, leftOut: standing.leftOut,
            notFitting: standing.notFitting, parts: standing.parts)
    }

    /// The outcome of a welcome, whatever the order.
    private struct Outcome: Hashable {
        let kept: Set<HeldScope>
        let purged: Set<ScopeID>
        let added: Set<Changes.GrantChange>
        let roles: Set<Changes.GrantChange>

        init(_ welcome: Welcome) {
            (kept, purged) = (Set(welcome.kept), Set(welcome.purged))
            (added, roles) = (Set(welcome.added), Set(welcome.roles))
        }
    }

    @Test(arguments: 1...300 as ClosedRange<UInt64>)
    func `digests and a list have the same result, whatever a client holds`(_ seed: UInt64) throws {
        var random = Seeded(seed)
        let context = try context(scopesMax: random.below(4) == 0 ? 3 + random.below(9) : 20_000)
        let roles: [Role] = [.member, .admin, .owner]
        var grants: [Grant] = []
        var holdings: [Welcome.Holding] = []
        for number in 0..<random.below(20) {
            let scope = ScopeID("room\(number)")
            let grant = Grant(scope: scope, since: Int64(1 + random.below(20)), role: roles[random.below(3)])
            let change = random.below(8)
            if change != 0 { grants.append(grant) }
            let since = change == 2 ? Int64(1 + random.below(20)) : grant.since
            let role = change == 3 ? roles[random.below(3)] : grant.role
            if change != 1 { holdings.append((HeldScope(scope: scope, since: since), role)) }
        }
        for shared in context.sharedGrants where random.below(3) > 0 {
            holdings.append((HeldScope(scope: shared.scope, since: 0), .member))
        }
        grants.sort { ($0.since, $1.scope) > ($1.since, $0.scope) }
        var digests = ScopeDigests(parts: 1 + random.below(6))
        for (held, role) in holdings { digests.insert(held.scope, since: held.since, role: role) }
        // It continues, goes back, begins anew, or never connected before.
        let way = random.below(4)
        let seal = context.seal
        let cursor = way == 3 ? nil : seal.cursor(head(15), workspace: Self.workspace.text)
        let end = seal.cursor(head(8), workspace: Self.workspace.text)
        var snapshot = SessionSnapshot(head: head(30), grants: grants, lineage: way == 0 ? head(15) : head(16))
        if way != 0 { snapshot.lost = 12 }
        func standing(_ held: [HeldScope], _ roles: [Role]?, _ digests: ScopeDigests?) -> Standpoint {
            Standpoint(
                cursor: cursor, ends: [end], held: held, digests: digests, roles: roles, snapshot: snapshot,
                common: way == 1 ? context.place(of: end, in: Self.workspace) : nil, workspace: Self.workspace,
                context: context)
        }
        let listing = standing(holdings.map(\.scope), holdings.map(\.role), nil)
        let digesting = standing([], nil, digests)
        #expect(listing.state == digesting.state && listing.leftOut == digesting.leftOut)
        #expect(listing.state == [.ok, .rewound, .resync, .none][way])
        let (listed, resolved) = (welcome(listing), welcome(digesting).resolved(for: holdings))
        #expect(Outcome(listed) == Outcome(resolved))
        // Changes are sent of every kept scope, and of none that is not granted.
        #expect(digesting.streamed.isSuperset(of: listing.streamed))
        #expect(digesting.streamed.isSubset(of: listing.grants.keys))
        let out = Set(listing.notFitting)
        #expect(out.isSubset(of: listed.purged))
        let told = Set(digesting.notFitting).intersection(listed.purged)
        #expect(told == out || told.isSubset(of: out) && digesting.notFitting.count == context.limits.scopesMax)
    }

    @Test func `ten thousand unchanged scopes cost a few kilobytes, and a changed one a few more`() throws {
        let context = try context()
        let cursor = context.seal.cursor(head(20_000), workspace: Self.workspace.text)
        var grants = (1...10_000).map { number in
            Grant(scope: ScopeID(record: UniqueID(high: 7, low: UInt64(number))), since: Int64(number), role: .owner)
        }
        var digests = ScopeDigests(suiting: grants.count, inEach: 64)
        for grant in grants + context.sharedGrants {
            digests.insert(grant.scope, since: grant.since, role: grant.role)
        }
        let hello = Hello(
            client: UniqueID(high: 1, low: 1), isNewClient: false, connection: 9, cursor: cursor, held: digests)
        #expect(ClientMessage.hello(hello).encode().count < 8 * 1_024)
        func bytes() -> Int {
            let standing = Standpoint(
                cursor: cursor, held: [], digests: digests,
                snapshot: SessionSnapshot(head: head(20_000), grants: grants, lineage: head(20_000)),
                workspace: Self.workspace, context: context)
            #expect(standing.state == .ok && standing.leftOut == 0 && standing.streamed.count > 10_000)
            return ServerMessage.welcome(welcome(standing)).encode().count
        }
        #expect(bytes() < 1_024)
        grants[77] = Grant(scope: grants[77].scope, since: grants[77].since, role: .member)
        #expect(bytes() < 8 * 1_024)
    }

    @Test func `a list of more scopes than a connection holds does not close it`() throws {
        #expect(try SessionDesk(WireLimits(), scopes: 2_100).holds(2_100))
        var limits = WireLimits()
        limits.scopesMax = 10
        #expect(try SessionDesk(limits, scopes: 2_100).holds(9), "the newest that fit, the shared one among them")
    }
}

/// Seeded random numbers.
private struct Seeded {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 }

    mutating func below(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }
}
