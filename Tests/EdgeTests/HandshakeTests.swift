import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import TidemarkEdge

@Suite(.timeLimit(.minutes(5))) struct HandshakeTests {
    private static func fields(replacing name: String, with value: String?) -> [String] {
        RawPeer.handshakeFields.compactMap { field in
            guard field.hasPrefix(name + ":") else { return field }
            return value.map { "\(name): \($0)" }
        }
    }

    static let table: [(String, line: String, fields: [String], status: String, says: String)] = [
        (
            "no subprotocol", "GET /v1/sync", fields(replacing: "Sec-WebSocket-Protocol", with: nil), "400",
            "tidemark.1.json"
        ),
        (
            "other subprotocols", "GET /v1/sync",
            fields(replacing: "Sec-WebSocket-Protocol", with: "chat, tidemark.1.cbor"),
            "400", "tidemark.1.json"
        ),
        ("an origin", "GET /v1/sync", RawPeer.handshakeFields + ["Origin: https://evil.example"], "403", "origin"),
        (
            "two origins", "GET /v1/sync",
            RawPeer.handshakeFields + ["Origin: https://app.example", "Origin: https://app.example"], "403", "origin"
        ),
        ("version 12", "GET /v1/sync", fields(replacing: "Sec-WebSocket-Version", with: "12"), "426", "version 13"),
        ("no key", "GET /v1/sync", fields(replacing: "Sec-WebSocket-Key", with: nil), "400", "Sec-WebSocket-Key"),
        (
            "a short key", "GET /v1/sync", fields(replacing: "Sec-WebSocket-Key", with: "c2hvcnQ="), "400",
            "Sec-WebSocket-Key"
        ),
        ("no upgrade", "GET /v1/sync", ["Host: localhost"], "426", "WebSocket"),
        ("another upgrade", "GET /v1/sync", fields(replacing: "Upgrade", with: "h2c"), "426", "WebSocket"),
        ("POST", "POST /v1/sync", RawPeer.handshakeFields + ["Content-Length: 0"], "405", "GET"),
        ("another path", "GET /v1/other", RawPeer.handshakeFields, "404", ""),
        ("a longer path", "GET /v1/sync/more", RawPeer.handshakeFields, "404", ""),
        ("a route", "GET /json", RawPeer.handshakeFields, "200", "{}"),
    ]

    @Test(arguments: table.indices)
    func `a refused handshake says why`(_ row: Int) async throws {
        let (name, line, fields, status, says) = Self.table[row]
        try await EdgeServer.running(sites: SiteCheck(origins: ["https://app.example"])) { server in
            try await RawPeer.connected(to: server.port) { peer in
                try await peer.send(RawPeer.request(line, fields))
                peer.finish()
                let answer = String(decoding: try await peer.readToEnd(), as: UTF8.self)
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(name): \(answer)")
                #expect(answer.contains(says), "\(name): \(answer)")
            }
        }
    }

    @Test func `an accepted handshake proves itself and echoes the subprotocol`() async throws {
        try await EdgeServer.running { server in
            try await RawPeer.connected(to: server.port) { peer in
                try await peer.send(
                    RawPeer.request(
                        "GET /v1/sync?x=1",
                        Self.fields(replacing: "Sec-WebSocket-Protocol", with: "chat, tidemark.1.json")))
                let head = try await peer.readHead().lowercased()
                #expect(head.hasPrefix("http/1.1 101 "))
                // The key and the answer of RFC 6455 §1.3.
                #expect(head.contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="))
                #expect(head.contains("sec-websocket-protocol: tidemark.1.json\r\n"))
            }
        }
    }

    @Test func `an allowed origin may open a socket`() async throws {
        try await EdgeServer.running(sites: SiteCheck(origins: ["https://app.example"])) { server in
            let fields = RawPeer.handshakeFields + ["Origin: https://app.example"]
            try await RawPeer.upgraded(on: server.port, fields: fields) { peer in
                try await peer.send(ClientFrames.text("a"))
                #expect(try await peer.read(3) == [0x81, 1, 97])
            }
        }
    }

    @Test func `frames sent together with the handshake are not lost`() async throws {
        try await EdgeServer.running { server in
            try await RawPeer.connected(to: server.port) { peer in
                let handshake = RawPeer.request("GET /v1/sync", RawPeer.handshakeFields)
                try await peer.send(Array(handshake.utf8) + ClientFrames.text("early"))
                _ = try await peer.readHead()
                #expect(try await peer.read(7) == [0x81, 5] + Array("early".utf8))
            }
        }
    }

    @Test func `the owner gets the bearer token and unique ids, and is notified of each end once`() async throws {
        let (events, continuation) = AsyncStream<RecordingOwner.Event>.makeStream()
        try await EdgeServer.running(owner: { _ in RecordingOwner(continuation) }) { server in
            var ids: Set<UInt64> = []
            var seen = events.makeAsyncIterator()
            for _ in 0..<2 {
                let fields = RawPeer.handshakeFields + ["Authorization: bearer abc.def.ghi"]
                try await RawPeer.upgraded(on: server.port, fields: fields) { peer in
                    try await peer.send(ClientFrames.close(1000))
                    #expect(ClientFrames.code(ofClose: try await peer.readToEnd()) == 1000)
                }
                guard case .opened(let id, "abc.def.ghi")? = await seen.next() else {
                    Issue.record("no opened")
                    return
                }
                ids.insert(id)
                #expect(await seen.next() == .closed)
            }
            #expect(ids.count == 2)
        }
        continuation.finish()
        #expect(await events.first { _ in true } == nil)
    }

    @Test func `a second request cannot become a socket`() async throws {
        try await EdgeServer.running { server in
            try await RawPeer.connected(to: server.port) { peer in
                try await peer.send(RawPeer.request("GET /json", ["Host: localhost"]))
                #expect(try await peer.readStatus() == "200")
                #expect(try await peer.read(2) == Array("{}".utf8))
                try await peer.send(RawPeer.request("GET /v1/sync", RawPeer.handshakeFields))
                #expect(try await peer.readStatus() == "426")
            }
        }
    }

    @Test func `no HTTP handlers are kept for a connection that became a WebSocket`() throws {
        let channel = EmbeddedChannel()
        weak var kept: HTTPConnectionGuard?
        do {
            let limits = EdgeLimits()
            let guardian = HTTPConnectionGuard(
                limits: limits, ledger: ConnectionLedger(limits), sites: SiteCheck(),
                isProbe: false, now: channel.eventLoop.now)
            try channel.pipeline.syncOperations.addHandlers([guardian, UpgradeAtEnd(from: guardian)])
            kept = guardian
        }
        try channel.writeInbound(HTTPServerRequestPart.head(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")))
        #expect(kept != nil)
        try channel.writeInbound(HTTPServerRequestPart.end(nil))
        #expect(kept == nil)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }
}

/// Takes a handler out of the pipeline while the end of the first request is passed on, as an upgrade does.
private final class UpgradeAtEnd: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private var handler: HTTPConnectionGuard?

    init(from handler: HTTPConnectionGuard) { self.handler = handler }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data), let handler else { return }
        context.pipeline.syncOperations.removeHandler(handler, promise: nil)
        self.handler = nil
    }
}
