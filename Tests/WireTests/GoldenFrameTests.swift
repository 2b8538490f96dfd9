import Testing
import TidemarkModel
import TidemarkWire

@Suite struct `Golden frames` {
    /// Checksums of all golden bytes by version. A change of the bytes needs a new version here and in `WireVersion`.
    static let locked: [Int64: UInt64] = [1: 10_111_909_592_048_380_176]

    /// The same for what came later, so that a version's own bytes stay: messages and members that a peer gets only after
    /// it said that it knows them, and members that a peer ignores which does not know them.
    static let lockedExtensions: [String: UInt64] = [
        "eph": 4_225_397_441_822_079_617, "blob_bytes": 18_072_539_843_657_000_088,
        "user": 17_226_888_752_001_173_619,
    ]

    @Test func `client messages have their locked bytes and read back`() throws {
        for (message, text) in GoldenFrames.client + GoldenFrames.ephemeralClient {
            #expect(String(decoding: message.encode(), as: UTF8.self) == text)
            #expect(try ClientMessage.decode(Array(text.utf8)) == message)
        }
    }

    @Test func `server messages have their locked bytes and read back`() throws {
        let later = GoldenFrames.ephemeralServer + GoldenFrames.blobServer + GoldenFrames.tellingServer
        for (message, text) in GoldenFrames.server + later {
            #expect(String(decoding: message.encode(), as: UTF8.self) == text)
            #expect(try ServerMessage.decode(Array(text.utf8)) == message)
        }
    }

    @Test func `bytes change only together with the version`() {
        let sum = checksum(GoldenFrames.client.map { $0.0.encode() } + GoldenFrames.server.map { $0.0.encode() })
        #expect(Self.locked[WireVersion.current] == sum, "raise WireVersion.current and lock its bytes as \(sum)")
    }

    @Test func `bytes of an extension change only under another name`() {
        let ephemeral =
            GoldenFrames.ephemeralClient.map { $0.0.encode() } + GoldenFrames.ephemeralServer.map { $0.0.encode() }
        let extensions = [
            "eph": ephemeral, "blob_bytes": GoldenFrames.blobServer.map { $0.0.encode() },
            "user": GoldenFrames.tellingServer.map { $0.0.encode() },
        ]
        for (name, frames) in extensions {
            let sum = checksum(frames)
            #expect(
                Self.lockedExtensions[name] == sum, "\(name): name it anew and lock the changed bytes as \(sum)")
        }
    }

    /// FNV-1a, 64 bits.
    private func checksum(_ frames: [[UInt8]]) -> UInt64 {
        frames.joined().reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    @Test func `a peer that does not know ephemeral messages neither says nor hears that there are any`() throws {
        let hello = Hello(client: GoldenFrames.first, isNewClient: false, connection: 1)
        #expect(!String(decoding: ClientMessage.hello(hello).encode(), as: UTF8.self).contains("eph"))
        guard case .hello(let read) = try ClientMessage.decode(ClientMessage.hello(hello).encode()) else {
            Issue.record("no hello")
            return
        }
        #expect(!read.takesEphemerals)
        guard case .welcome(let welcome) = try ServerMessage.decode(Array(GoldenFrames.server[0].1.utf8)) else {
            Issue.record("no welcome")
            return
        }
        #expect(welcome.ephemerals == nil)
    }

    @Test func `a server without blobs tells no limit of them, and one with blobs does`() throws {
        for (frame, bytes) in [(GoldenFrames.server[0], nil), (GoldenFrames.blobServer[0], Int?.some(16 * 1_048_576))] {
            guard case .welcome(let welcome) = try ServerMessage.decode(Array(frame.1.utf8)) else {
                Issue.record("no welcome")
                return
            }
            #expect(welcome.limits.blobBytesMax == bytes)
        }
    }

    @Test func `a server that does not tell user and schema is read as one that does not tell`() throws {
        for (frame, user) in [(GoldenFrames.server[0], nil), (GoldenFrames.tellingServer[0], UserID("ann"))] {
            guard case .welcome(let welcome) = try ServerMessage.decode(Array(frame.1.utf8)) else {
                Issue.record("no welcome")
                return
            }
            #expect(welcome.user == user && (welcome.schema == nil) == (user == nil))
        }
    }

    @Test func `a client cannot say an ephemeral message in somebody's name`() throws {
        let text = #"{"t":"eph","scope":"room","user":"bob","k":"typing","d":{},"ttl":1}"#
        let said = Ephemeral(scope: GoldenFrames.room, kind: "typing", lifetime: 1)
        #expect(try ClientMessage.decode(Array(text.utf8)) == .ephemeral(said))
    }

    @Test func `unknown members are ignored and the kind may stand anywhere`() throws {
        let text = #"{"later":{"x":[1]},"frames":7,"t":"ack"}"#
        #expect(try ClientMessage.decode(Array(text.utf8)) == .ack(Ack(frames: 7)))
        #expect(try ClientMessage.decode(Array(#"{"t":"x-trace","y":1}"#.utf8)) == .unknownExtension)
    }

    @Test func `a body without a connection reads like a push`() throws {
        let call = PushCall(
            client: GoldenFrames.first, connection: 4,
            push: Push(first: 6, ackedThrough: 5, entries: [Push.Entry(GoldenFrames.transaction)]))
        #expect(try PushCall.decode(call.encode()) == call)
    }
}
