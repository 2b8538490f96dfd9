import Crypto
import Testing
import TidemarkModel
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkHub

/// A cursor is one position whichever key has sealed it. A client compares bytes, so its stream continues with the
/// bytes that it has.
@Suite struct RotatedKeyTests {
    private static let workspace = WorkspaceID("w")
    private let first = SymmetricKey(data: [UInt8](repeating: 7, count: 32))
    private let second = SymmetricKey(size: .bits256)
    private var old: CursorSeal { CursorSeal(key: first) }
    /// Seals with the new key, and accepts the old one.
    private var rotated: CursorSeal { CursorSeal(key: second, previousKeys: [first]) }

    private func context(_ seal: CursorSeal) throws -> SessionContext {
        SessionContext(
            serverName: "t", schema: try ServerConfiguration.sampleSchema(), limits: WireLimits(), seal: seal)
    }

    private func standing(_ cursor: String, _ context: SessionContext) -> Standpoint {
        Standpoint(
            cursor: cursor, held: [],
            snapshot: SessionSnapshot(
                head: OneSession.head(9), lineage: context.read(cursor, in: Self.workspace)?.proof),
            workspace: Self.workspace, context: context)
    }

    @Test
    func `the stream of a connection continues from the client's bytes, and is sealed anew after them`()
        throws
    {
        var session = try OneSession(tail: 9, seal: rotated)
        let held = old.cursor(OneSession.head(5), workspace: Self.workspace.text)
        session.connect(from: 5, snapshot: 9, text: held)
        session.answer([OneSession.post(7)], through: 9, state: 9)
        let welcomes = session.sent.compactMap { if case .welcome(let welcome) = $0 { welcome } else { nil } }
        let welcome = try #require(welcomes.first)
        #expect(welcome.cursorState == .ok && welcome.cursor == held)
        #expect(session.frames.first?.from == held)
        #expect(session.frames.last?.cursor == rotated.cursor(OneSession.head(9), workspace: Self.workspace.text))
        #expect(zip(session.frames, session.frames.dropFirst()).allSatisfy { $0.cursor == $1.from })
        session.commit([OneSession.post(10)], to: 10)
        #expect(session.story.suffix(1) == ["10+10 done"])
    }

    @Test func `so does a connection that returns in the middle of catching up, and a pull over HTTP`() throws {
        let context = try context(rotated)
        for looked in [nil, OneSession.head(8)] {
            let held = old.cursor(OneSession.head(5), looked: looked, workspace: Self.workspace.text)
            let standing = standing(held, context)
            #expect(standing.state == .ok && standing.cursor == held)
            // A cursor has no time.
            #expect(standing.looked?.seq == looked?.seq && standing.looked?.nonce == looked?.nonce)
            var frames = PullFrames(from: standing, in: Self.workspace, context: context)
            #expect(try frames.finish(SessionSnapshot(head: OneSession.head(9))))
            guard case .changes(let changes)? = try frames.frames.first.map({ try ServerMessage.decode($0) }) else {
                Issue.record("no frame")
                continue
            }
            #expect(changes.from == held)
            #expect(changes.cursor == rotated.cursor(OneSession.head(9), workspace: Self.workspace.text))
        }
    }

    @Test func `a server that accepts the new key and seals with the old one continues from either`() throws {
        let accepting = CursorSeal(key: first, previousKeys: [second])
        for seal in [old, rotated] {
            let held = seal.cursor(OneSession.head(5), workspace: Self.workspace.text)
            let standing = standing(held, try context(accepting))
            #expect(standing.state == .ok && standing.cursor == held)
        }
    }

    @Test func `without the old key a client fetches anew from a cursor of the present key`() throws {
        let only = CursorSeal(key: second)
        let standing = standing(old.cursor(OneSession.head(5), workspace: Self.workspace.text), try context(only))
        #expect(standing.state == .resync)
        #expect(standing.cursor == only.cursor(OneSession.head(9), workspace: Self.workspace.text))
    }

    @Test func `a frame is shared only by sessions that continue the same bytes`() throws {
        let context = try context(rotated)
        var shared: SharedFrame?
        var frames: [Changes] = []
        let cursors = [old, rotated].map { $0.cursor(OneSession.head(9), workspace: Self.workspace.text) }
        let batch = DeliveryBatch(
            CommittedBatch(low: 10, head: OneSession.head(10)),
            cursor: rotated.cursor(OneSession.head(10), workspace: Self.workspace.text))
        for (number, cursor) in cursors.enumerated() {
            var session = Session(id: SessionID(number), context: context, headerToken: nil, now: 0)
            session.sent = (cursor, 9, 0)
            var effects: [SessionEffect] = []
            session.deliver(
                batch, after: OneSession.head(9), groups: [], durable: 0, shared: &shared, now: 0, into: &effects)
            for case .send(_, let frame) in effects {
                if case .changes(let changes) = try ServerMessage.decode(frame.bytes) { frames.append(changes) }
            }
        }
        #expect(frames.map(\.from) == cursors)
    }
}
