import Crypto
import Testing
import TidemarkModel
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkHub

/// Whether the history continues from a client's position.
@Suite struct StandpointTests {
    private static let workspace = WorkspaceID("w")
    private let context: SessionContext

    init() throws {
        context = SessionContext(
            serverName: "t", schema: try ServerConfiguration.sampleSchema(), limits: WireLimits(),
            seal: CursorSeal(key: SymmetricKey(data: Array("a key of the test suite".utf8))))
    }

    private func head(_ seq: SequenceNumber, _ nonce: UInt64) -> Head {
        Head(seq: seq, nonce: nonce, time: 1, epoch: 1)
    }

    /// The state of a client's cursor at number 5, in the history where that has the nonce 55; the order's head is 9.
    private func state(lineage: Head?, head: Head? = nil, horizon: SequenceNumber = 0) -> Welcome.CursorState {
        let cursor = context.seal.cursor(self.head(5, 55), workspace: Self.workspace.text)
        return Standpoint(
            cursor: cursor, held: [HeldScope(scope: ScopeID("directory"), since: 0)],
            snapshot: SessionSnapshot(head: head ?? self.head(9, 99), lineage: lineage, horizon: horizon),
            workspace: Self.workspace, context: context
        ).state
    }

    @Test func `a cursor is valid while the batch that holds its number is the same`() {
        #expect(state(lineage: head(5, 55)) == .ok)
        #expect(state(lineage: head(7, 55)) == .ok, "it may lie inside the batch")
    }

    @Test func `a cursor of another history is invalid, though the number was given again`() {
        #expect(state(lineage: head(5, 56)) == .resync)
        #expect(state(lineage: head(5, 0)) == .resync)
    }

    @Test func `a cursor ahead of the order is invalid`() {
        #expect(state(lineage: nil, head: head(4, 44)) == .resync)
        #expect(state(lineage: head(5, 55), head: head(4, 44)) == .resync)
    }

    @Test func `a cursor below the horizon is invalid, though its batch exists`() {
        #expect(state(lineage: head(5, 55), horizon: 5) == .ok)
        #expect(state(lineage: head(7, 55), horizon: 6) == .resync)
    }

    @Test func `a client that can compare continues from the head, unless a part of its copy is known to be lost`() {
        let cursor = context.seal.cursor(head(5, 55), workspace: Self.workspace.text)
        func standing(_ cursor: String, compares: Bool = true, lost: SequenceNumber? = nil) -> Standpoint {
            var snapshot = SessionSnapshot(
                head: head(9, 99), grants: [Grant(scope: ScopeID("room"), since: 3, role: .member)], lineage: nil,
                horizon: 6)
            snapshot.lost = lost
            return Standpoint(
                cursor: cursor,
                held: [HeldScope(scope: ScopeID("room"), since: 3), HeldScope(scope: ScopeID("other"), since: 3)],
                compares: compares, snapshot: snapshot, workspace: Self.workspace, context: context)
        }
        let behind = standing(cursor)
        #expect(behind.state == .behind && behind.position.seq == 9 && behind.rewind == nil)
        #expect(behind.kept.map(\.scope) == [ScopeID("room")] && behind.purged == [ScopeID("other")])
        #expect(standing(cursor, compares: false).state == .resync)
        #expect(standing(cursor, lost: 4).state == .resync)
        #expect(standing("a cursor of nobody's").state == .resync)
        let above = context.seal.cursor(head(8, 88), workspace: Self.workspace.text)
        #expect(standing(above).state == .resync, "above the horizon its batch is known, and is another")
    }

    @Test func `roles that differ from the client's are sent, and none to a client that sends no roles`() {
        let rooms = ["a", "b", "c"].map { ScopeID($0) }
        func changed(_ roles: [Role]?) -> [Changes.GrantChange] {
            Standpoint(
                cursor: context.seal.cursor(head(5, 55), workspace: Self.workspace.text),
                held: rooms.map { HeldScope(scope: $0, since: 3) }, roles: roles,
                snapshot: SessionSnapshot(
                    head: head(9, 99),
                    grants: zip(rooms, [Role.member, .admin, .owner]).map { Grant(scope: $0, since: 3, role: $1) },
                    lineage: head(5, 55)),
                workspace: Self.workspace, context: context
            ).changed
        }
        #expect(changed(nil).isEmpty)
        #expect(changed([.member, .admin, .owner]).isEmpty)
        #expect(changed([.member, .member, .admin]).map(\.scope) == [rooms[1], rooms[2]])
        #expect(changed([.member, .member, .admin]).map(\.role) == [.admin, .owner])
        #expect(changed([.admin]).map(\.role) == [.member], "fewer than scopes: those that are told")
    }

    /// The same for a client with ends at 2 and 3, where its history left the stored one after `common`.
    private func standpoint(common: SequenceNumber?, lineage: Head? = nil, since: SequenceNumber = 0) -> Standpoint {
        let places = [head(3, 33), head(2, 22)]
        let ends = places.map { context.seal.cursor($0, workspace: Self.workspace.text) }
        let snapshot = SessionSnapshot(
            head: head(9, 99), grants: [Grant(scope: ScopeID("room"), since: 3, role: .member)], lineage: lineage)
        let common = zip(places, ends).first { $0.0.seq == common }
            .flatMap { context.place(of: $0.1, in: Self.workspace) }
        return Standpoint(
            cursor: context.seal.cursor(head(5, 55), workspace: Self.workspace.text), ends: ends,
            held: [HeldScope(scope: ScopeID("directory"), since: 0), HeldScope(scope: ScopeID("room"), since: 3)],
            snapshot: snapshot, common: common, workspace: Self.workspace, context: context)
    }

    @Test func `a lost cursor goes back to the newest one that was not lost`() throws {
        let standing = standpoint(common: 3, lineage: head(5, 56))
        #expect(standing.state == .rewound && standing.position.seq == 3 && standing.position.nonce == 33)
        #expect(standing.rewind == .init(to: 3, end: context.seal.cursor(head(3, 33), workspace: Self.workspace.text)))
        #expect(Set(standing.kept.map(\.scope)) == [ScopeID("directory"), ScopeID("room")])
        #expect(standing.purged.isEmpty && standing.added.isEmpty)
    }

    @Test func `a grant beyond that is another one, though its number is the same`() {
        let standing = standpoint(common: 2, lineage: head(5, 56))
        #expect(standing.state == .rewound && standing.kept.map(\.scope) == [ScopeID("directory")])
        #expect(standing.purged == [ScopeID("room")] && standing.added.map(\.scope) == [ScopeID("room")])
    }

    @Test func `without a common one the copy is filled again, and a valid cursor is not taken back`() {
        #expect(standpoint(common: nil, lineage: head(5, 56)).state == .resync)
        let standing = standpoint(common: nil, lineage: head(5, 55))
        #expect(standing.state == .ok && standing.rewind == nil && standing.position.seq == 5)
    }

    @Test func `nothing is looked up for a cursor that is valid, foreign or behind the horizon`() {
        let cursor = context.seal.cursor(head(5, 55), workspace: Self.workspace.text)
        let place = context.place(of: cursor, in: Self.workspace)
        func search(_ place: Head?, lineage: Head?, horizon: SequenceNumber = 0, ends: Int = 30) -> EndSearch? {
            let request = LoadRequest(
                workspace: Self.workspace, user: UserID("ann"), client: UniqueID(high: 1, low: 1), registers: false,
                place: place,
                ends: (0..<ends).map { context.seal.cursor(head(Int64($0) % 5, 7), workspace: Self.workspace.text) })
            let snapshot = SessionSnapshot(head: head(9, 99), lineage: lineage, horizon: horizon)
            return request.search(in: snapshot, context)
        }
        #expect(search(place, lineage: head(5, 55)) == nil)
        #expect(search(nil, lineage: head(5, 56)) == nil)
        #expect(search(place, lineage: head(7, 56), horizon: 6) == nil)
        #expect(search(place, lineage: head(5, 56), ends: 0) == nil)
        #expect(search(place, lineage: head(5, 56)) != nil)
        #expect(search(place, lineage: nil) != nil)
    }

    @Test func `in the middle of catching up the state that was read must be of the history as well`() throws {
        let ends = [context.seal.cursor(head(3, 33), workspace: Self.workspace.text)]
        func standing(_ looked: Head, lineage: Head?, common: Head? = nil) -> Standpoint {
            Standpoint(
                cursor: context.seal.cursor(head(5, 55), looked: looked, workspace: Self.workspace.text), ends: ends,
                held: [], snapshot: SessionSnapshot(head: head(9, 99), lineage: lineage), common: common,
                workspace: Self.workspace, context: context)
        }
        let goesOn = standing(head(8, 88), lineage: head(8, 88))
        #expect(goesOn.state == .ok && goesOn.position.seq == 5 && goesOn.position.nonce == 55)
        #expect(goesOn.looked?.seq == 8)
        #expect(standing(head(8, 88), lineage: head(8, 77)).state == .resync)
        #expect(standing(head(12, 1), lineage: nil).state == .resync, "beyond the order's end")
        var common = head(3, 33)
        common.time = 0
        let back = standing(head(8, 88), lineage: head(8, 77), common: common)
        #expect(back.state == .rewound && back.rewind?.to == 3 && back.looked == nil)
    }

    @Test func `a cursor contains the state that was read only if that is ahead of it, and under the seal`() throws {
        let seal = context.seal
        let middle = seal.cursor(head(5, 55), looked: head(8, 88), workspace: "w")
        let place = try #require(seal.read(middle, workspace: "w"))
        #expect(place.head.seq == 5 && place.proof.seq == 8 && place.proof.nonce == 88)
        #expect(seal.open(middle, workspace: "w")?.nonce == 55)
        #expect(
            seal.cursor(head(5, 55), looked: head(5, 1), workspace: "w") == seal.cursor(head(5, 55), workspace: "w"))
        #expect(seal.read(middle, workspace: "v") == nil)
        for place in middle.indices {
            var other = middle
            other.replaceSubrange(place...place, with: middle[place] == "A" ? "B" : "A")
            #expect(seal.read(other, workspace: "w") == nil)
        }
        for length in 0..<middle.count { #expect(seal.read(String(middle.prefix(length)), workspace: "w") == nil) }
        #expect(seal.read(middle + "AAAA", workspace: "w") == nil)
    }

    @Test func `a cursor of the first version of the protocol is made and read as before`() {
        let frozen = "AQAAAAAAAAABAAAAAAAAAAUAAAAAAAAAN1s7gHsbKZsU"
        #expect(context.seal.cursor(head(5, 55), workspace: Self.workspace.text) == frozen)
        #expect(context.seal.open(frozen, workspace: Self.workspace.text).map { [$0.seq, $0.epoch] } == [5, 1])
    }

    @Test func `a user with too many scopes is told how many are left out, and has the newest`() throws {
        var limits = WireLimits()
        limits.scopesMax = 3
        let context = SessionContext(
            serverName: "t", schema: try ServerConfiguration.sampleSchema(), limits: limits,
            seal: CursorSeal(key: SymmetricKey(data: Array("a key of the test suite".utf8))))
        let shared = context.sharedGrants.count
        #expect((1...2).contains(shared))
        func standing(_ scopes: Int) -> Standpoint {
            let grants = (0..<scopes).map { Grant(scope: ScopeID("room\($0)"), since: Int64(9 - $0), role: .member) }
            return Standpoint(
                cursor: nil, held: [], snapshot: SessionSnapshot(head: head(9, 99), grants: grants),
                workspace: Self.workspace, context: context)
        }
        #expect(standing(3 - shared).leftOut == 0)
        #expect(standing(5).leftOut == 2 + shared && standing(5).added.count == 3)
        #expect(standing(5).grants[ScopeID("room0")] != nil && standing(5).grants[ScopeID("room4")] == nil)
    }
}
