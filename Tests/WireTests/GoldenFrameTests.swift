import Testing
import TidemarkModel
import TidemarkWire

/// The bytes of version 1 never change: encoding a value gives its line of `Golden/v1.txt`, decoding the line the
/// value.
@Suite struct `Golden frames` {
    private let file: GoldenFile

    init() throws { file = try GoldenFile() }

    /// Checksums of the golden lines of each version. A changed line changes the protocol under deployed peers.
    private static let locked: [Int64: UInt64] = [1: 4_722_964_367_371_715_646]
    /// Checksums of later additions, by the text after the `+`.
    private static let lockedLater: [String: UInt64] = ["rule": 2_561_740_332_282_225_362]

    // MARK: Frozen bytes

    @Test func `lines of a version change only together with the version`() {
        let sum = file.checksum { !$0.isLater }
        #expect(Self.locked[WireVersion.current] == sum, "raise WireVersion.current and lock its bytes as \(sum)")
    }

    @Test func `lines of later additions change only under another name`() {
        let names = Set(file.lines.filter(\.isLater).compactMap { $0.name.split(separator: "+").last.map(String.init) })
        #expect(names == Set(Self.lockedLater.keys))
        for name in names.sorted() {
            let sum = file.checksum { $0.name.hasSuffix("+\(name)") }
            #expect(Self.lockedLater[name] == sum, "\(name): name it anew and lock the changed bytes as \(sum)")
        }
    }

    @Test func `client messages have their bytes and decode again`() throws {
        for (message, name) in GoldenFrames.allClient {
            let text = file.bytes("client", name)
            #expect(String(decoding: message.encode(), as: UTF8.self) == text)
            #expect(try ClientMessage.decode(Array(text.utf8)) == message)
        }
        #expect(Set(file.names("client")) == Set(GoldenFrames.allClient.map(\.1)), "each line is read by this test")
    }

    @Test func `server messages have their bytes and decode again`() throws {
        for (message, name) in GoldenFrames.allServer {
            let text = file.bytes("server", name)
            #expect(String(decoding: message.encode(), as: UTF8.self) == text)
            #expect(try ServerMessage.decode(Array(text.utf8)) == message)
        }
        #expect(Set(file.names("server")) == Set(GoldenFrames.allServer.map(\.1)), "each line is read by this test")
    }

    @Test func `every kind of message has a line`() {
        let client = Set(GoldenFrames.allClient.map { Self.kind(of: $0.0) })
        #expect(client == Set(ClientKind.allCases))
        let server = Set(GoldenFrames.allServer.map { Self.kind(of: $0.0) })
        #expect(server == Set(ServerKind.allCases))
    }

    /// A new kind of message does not compile until it is listed here, and fails the test above until it has a line.
    private enum ClientKind: CaseIterable {
        case hello, push, ack, page, history, compare, auth, ephemeral, bye, unknownExtension
    }
    private enum ServerKind: CaseIterable {
        case welcome, changes, page, history, compared, authOK, error, goAway, ephemeral, unknownExtension
    }

    private static func kind(of message: ClientMessage) -> ClientKind {
        switch message {
        case .hello: .hello
        case .push: .push
        case .ack: .ack
        case .page: .page
        case .history: .history
        case .compare: .compare
        case .auth: .auth
        case .ephemeral: .ephemeral
        case .bye: .bye
        case .unknownExtension: .unknownExtension
        }
    }

    private static func kind(of message: ServerMessage) -> ServerKind {
        switch message {
        case .welcome: .welcome
        case .changes: .changes
        case .page: .page
        case .history: .history
        case .compared: .compared
        case .authOK: .authOK
        case .error: .error
        case .goAway: .goAway
        case .ephemeral: .ephemeral
        case .unknownExtension: .unknownExtension
        }
    }

    // MARK: Over HTTP

    @Test func `calls over HTTP have their bytes and decode again`() throws {
        func call(_ name: String) -> [UInt8] { Array(file.bytes("call", name).utf8) }
        let register = RegisterCall(client: GoldenFrames.first)
        #expect(register.encode() == call("register"))
        #expect(try RegisterCall.decode(call("register")) == register)
        let push = PushCall(
            client: GoldenFrames.first, connection: 4,
            push: Push(first: 6, ackedThrough: 5, entries: [Push.Entry(GoldenFrames.transaction)]), app: "demo 1")
        #expect(push.encode() == call("push"))
        #expect(try PushCall.decode(call("push")) == push)
        let pull = PullCall(
            client: GoldenFrames.first, cursor: "cur", scopes: [HeldScope(scope: GoldenFrames.room, since: 2)],
            wait: 25_000)
        #expect(try PullCall.decode(call("pull")) == pull)
        #expect(file.names("call") == ["register", "push", "pull"])
    }

    @Test func `answers over HTTP have their bytes, and those that our clients read decode again`() throws {
        let (first, second) = (GoldenFrames.first, GoldenFrames.second)
        let refusal = Rejection(.gone, "notes: no")
        let push = PushAnswer(
            settledThrough: 6,
            outcomes: [
                .init(number: 5, transaction: first, seq: 8, time: 12, rejection: nil),
                .init(number: 6, transaction: second, seq: 9, time: 12, rejection: refusal),
            ])
        let frame = #"{"t":"changes","base":"cur","cur":"c1","ts":12,"live":false,"done":true}"#
        let pull = PullAnswer(
            cursorState: .resync, cursor: "cur", kept: [HeldScope(scope: GoldenFrames.room, since: 2)],
            purged: [ScopeID("old")], added: [.init(scope: ScopeID("new"), since: 6, role: .owner)], settledThrough: 5,
            frames: [Array(frame.utf8)], hasMore: true)
        let clients = ClientsAnswer(clients: [
            .init(id: first, settledThrough: 5, registered: 10, seen: 20),
            .init(id: second, settledThrough: 0, registered: 11, seen: 11),
        ])
        let profile = ServerProfile(
            server: "node", schema: SchemaLabel(name: "notes", version: 2), limits: GoldenFrames.firstLimits)
        let answers: [(String, [UInt8])] = [
            ("info", profile.encode()), ("register", RegisterAnswer(client: first, settledThrough: 5).encode()),
            ("clients", clients.encode()), ("push", push.encode()), ("pull", pull.encode()),
            ("error", CallError("gap", "go on from 3", settledThrough: 2, retryAfter: 50).encode()),
            ("error.min_app", CallError("app_too_old", "old", appMinimum: "2.4").encode()),
        ]
        for (name, bytes) in answers {
            #expect(String(decoding: bytes, as: UTF8.self) == file.bytes("answer", name), "\(name)")
        }
        #expect(file.names("answer") == answers.map(\.0))
        #expect(try PushAnswer.decode(Array(file.bytes("answer", "push").utf8)) == push)
        #expect(try PullAnswer.decode(Array(file.bytes("answer", "pull").utf8)) == pull)
    }

    // MARK: Codes

    @Test func `every code has its line, with its name and number`() {
        let closes = file.lines.filter { $0.speaker == "close" }.map { line in
            "\(line.name.prefix { $0 != "+" }) \(line.bytes)"
        }
        #expect(Set(closes) == Set(CloseCode.allCases.map { "\($0) \($0.rawValue)" }))
        let refusals = file.names("refusal").map { String($0.prefix { $0 != "+" }) }
        #expect(Set(refusals) == Set(RejectionCode.allCases.map(\.rawValue)))
        #expect(Set(file.names("error")) == Set(ErrorCode.allCases.map(\.rawValue)))
    }

    // MARK: Ignored members

    @Test func `an unknown member is ignored in every message`() throws {
        for (message, name) in GoldenFrames.allClient {
            #expect(try ClientMessage.decode(Self.grown(file.bytes("client", name))) == message, "\(name)")
        }
        for (message, name) in GoldenFrames.allServer {
            #expect(try ServerMessage.decode(Self.grown(file.bytes("server", name))) == message, "\(name)")
        }
    }

    @Test func `an unknown member is ignored in nested objects, but not in a mutation`() throws {
        for (name, object) in [
            ("welcome", #""limits":{"#), ("welcome.user", #""schema":{"#), ("welcome", #""eph":{"#),
            ("changes", #""you":{"#), ("changes", #""g":[{"#),
        ] {
            let text = file.bytes("server", name)
            let grown = text.replacing(object, with: object + Self.unknown + ",", maxReplacements: 1)
            try #require(grown != text)
            #expect(try ServerMessage.decode(Array(grown.utf8)) == ServerMessage.decode(Array(text.utf8)), "\(object)")
        }
        let push = file.bytes("client", "push")
        let transaction = push.replacing(#""m":[{"#, with: #""m":[{"# + Self.unknown + ",", maxReplacements: 1)
        #expect(try ClientMessage.decode(Array(transaction.utf8)) == ClientMessage.decode(Array(push.utf8)))
        let mutation = push.replacing(#""ops":[{"#, with: #""ops":[{"# + Self.unknown + ",", maxReplacements: 1)
        guard case .push(let read) = try ClientMessage.decode(Array(mutation.utf8)),
            case .failure(let refusal)? = read.entries.first?.content
        else {
            Issue.record("an unknown member of a mutation was taken")
            return
        }
        #expect(refusal.code == .unknownOperation)
    }

    @Test func `an array with positional elements accepts no further ones`() {
        let text = file.bytes("server", "page").replacing(#","ann",10,11,"#, with: #","ann",10,11,12,"#)
        #expect(throws: WireError.self) { try ServerMessage.decode(Array(text.utf8)) }
    }

    @Test func `the kind may be at any position, and one that begins with x- is ignored`() throws {
        #expect(try ClientMessage.decode(Array(#"{"frames":7,"t":"ack"}"#.utf8)) == .ack(Ack(frames: 7)))
        #expect(try ClientMessage.decode(Array(#"{"t":"x-trace","y":1}"#.utf8)) == .unknownExtension)
        #expect(throws: WireError.self) { try ClientMessage.decode(Array(#"{"t":"trace","y":1}"#.utf8)) }
    }

    @Test func `an unknown error code is treated as unavailable, so that the client waits and continues`()
        throws
    {
        let text = #"{"t":"err","code":"later","msg":"m","retry_ms":5}"#
        let error = ErrorMessage(.unavailable, "m", retryAfter: 5)
        #expect(try ServerMessage.decode(Array(text.utf8)) == .error(error))
    }

    private static let unknown = #""later":{"x":[1,null],"y":"z"}"#

    /// The message with an unknown member in front.
    private static func grown(_ text: String) -> [UInt8] { Array("{\(unknown),\(text.dropFirst())".utf8) }

    // MARK: Later additions

    /// A flag by which a later release would announce that it understands something.
    private static let flag = #""sings":true"#

    @Test func `a flag of a later release is ignored by a peer that does not know it, which never asks for it`() throws
    {
        let text = file.bytes("client", "hello")
        let announced = text.dropLast() + ",\(Self.flag)}"
        #expect(try ClientMessage.decode(Array(announced.utf8)) == ClientMessage.decode(Array(text.utf8)))
        let welcome = file.bytes("server", "welcome")
        let answered = welcome.dropLast() + ",\(Self.flag)}"
        #expect(try ServerMessage.decode(Array(answered.utf8)) == ServerMessage.decode(Array(welcome.utf8)))
    }

    @Test func `a line of a later addition leaves the bytes of the version as they are, and has a checksum of its own`()
        throws
    {
        let line = GoldenFile.Line(speaker: "client", name: "hello+sings", bytes: "{\(Self.flag)}")
        let grown = GoldenFile(lines: file.lines + [line])
        #expect(line.isLater && grown.checksum { !$0.isLater } == file.checksum { !$0.isLater })
        let changed = GoldenFile(lines: file.lines + [.init(speaker: "client", name: "hello+sings", bytes: "{}")])
        #expect(grown.checksum(\.isLater) != changed.checksum(\.isLater))
    }

    @Test func `a minimal hello and welcome have defaults for everything else`() throws {
        let hello = Hello(client: GoldenFrames.first, isNewClient: false, connection: 1)
        let text = String(decoding: ClientMessage.hello(hello).encode(), as: UTF8.self)
        #expect(!text.contains("ends") && !text.contains("trace"))
        let welcome = try welcome("welcome")
        #expect(welcome.ephemerals == EphemeralLimits() && welcome.limits.blobBytesMax == nil)
        #expect(welcome.user == nil && welcome.schema == nil && welcome.release == nil)
        #expect(welcome.rewind == nil && welcome.durable == nil && welcome.lost == nil)
    }

    @Test func `a welcome with more members is decoded with them`() throws {
        #expect(try welcome("welcome.blob_bytes").limits.blobBytesMax == 16 * 1_048_576)
        #expect(try welcome("welcome.user").user == UserID("ann"))
        #expect(try welcome("welcome.user").schema?.revision == nil)
        #expect(try welcome("welcome.revision").schema?.revision == 7)
        #expect(try welcome("welcome.release").release == "0.1.0")
    }

    @Test func `a client cannot send an ephemeral message in another user's name`() throws {
        let text = #"{"t":"eph","scope":"room","user":"bob","k":"typing","d":{},"ttl":1}"#
        let said = Ephemeral(scope: GoldenFrames.room, kind: "typing", lifetime: 1)
        #expect(try ClientMessage.decode(Array(text.utf8)) == .ephemeral(said))
    }

    private func welcome(_ name: String) throws -> Welcome {
        guard case .welcome(let welcome) = try ServerMessage.decode(Array(file.bytes("server", name).utf8)) else {
            throw WireError("\(name) is no welcome")
        }
        return welcome
    }
}
