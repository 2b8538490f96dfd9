import NIOCore
import Testing
import TidemarkEdge
import TidemarkNIOTransport
import TidemarkWire

@testable import TidemarkAssembly

/// The client's address behind a proxy, on a whole server (R-117, R-118).
@Suite(.timeLimit(.minutes(5))) struct ProxyServingTests {
    private static let trusted = ["TIDEMARK_TRUSTED_PROXIES": "127.0.0.1"]
    private static let badToken = "Authorization: Bearer no.token.atall"

    /// Repeats a call with a bad token until an answer arrives.
    private static func answer(_ call: inout RawCall, _ fields: [String]) async throws -> String {
        try await call.send(
            (["GET /v1/schema HTTP/1.1", "Host: localhost"] + fields).joined(separator: "\r\n") + "\r\n\r\n")
        return try await call.read()
    }

    private static func expect(_ status: String, of call: inout RawCall, _ fields: [String]) async throws {
        let answer = try await answer(&call, fields)
        #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(fields): \(answer)")
    }

    /// A header of the PROXY protocol, for TCP over IPv4.
    private static func header(
        _ address: [UInt8] = [192, 0, 2, 7], version: UInt8 = 0x21, family: UInt8 = 0x11, length: UInt16? = nil,
        more: [UInt8] = []
    ) -> [UInt8] {
        let body = address + [10, 0, 0, 1] + [0x12, 0x34, 0, 80] + more
        let length = length ?? UInt16(clamping: body.count)
        return [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A, version, family]
            + [UInt8(length >> 8), UInt8(length & 0xff)] + body
    }

    @Test func `the addresses that a trusted proxy names are bounded separately, the proxy's own is not`()
        async throws
    {
        let log = LogCapture()
        try await TestServer.running(
            limits: ["STRANGERS_PER_ADDRESS": "1"], environment: Self.trusted.merging(TestServer.operated) { $1 },
            log: log
        ) { server in
            try await RawCall.connected(to: server.port) { first in
                try await Self.expect("401", of: &first, ["X-Forwarded-For: 192.0.2.1"])
                try await RawCall.connected(to: server.port) { second in
                    let other = try await Self.answer(&second, ["X-Forwarded-For: 192.0.2.1, 192.0.2.2"])
                    #expect(other.hasPrefix("HTTP/1.1 401"), "\(other)")
                    try await RawCall.connected(to: server.port) { third in
                        let same = try await Self.answer(&third, ["X-Forwarded-For: 10.9.9.9, 192.0.2.1"])
                        #expect(same.hasPrefix("HTTP/1.1 503"), "\(same)")
                    }
                }
            }
        }
        #expect(log.lines.count { $0.contains("label=no_room peer=192.0.2.1") } == 1)
    }

    @Test func `addresses named by an untrusted peer are ignored`() async throws {
        let log = LogCapture()
        try await TestServer.running(
            limits: ["STRANGERS_PER_ADDRESS": "1"],
            environment: ["TIDEMARK_TRUSTED_PROXIES": "192.0.2.0/24"].merging(TestServer.operated) { $1 }, log: log,
            change: { $0.edge.probesMax = 0 }
        ) { server in
            try await RawCall.connected(to: server.port) { first in
                try await Self.expect("401", of: &first, ["X-Forwarded-For: 203.0.113.1"])
                try await RawCall.connected(to: server.port) { second in
                    let rest = try await second.readToEnd()
                    #expect(rest == "", "it is of the same address, whatever it would say")
                }
            }
        }
        #expect(log.lines.contains { $0.contains("label=no_room peer=127.0.0.1") })
        #expect(!log.lines.contains { $0.contains("203.0.113") })
    }

    @Test func `an invalid field is ignored and counted, and the call is answered`() async throws {
        try await TestServer.running(environment: Self.trusted.merging(TestServer.operated) { $1 }) { server in
            try await RawCall.connected(to: server.port) { call in
                for field in ["X-Forwarded-For: unknown", "X-Forwarded-For: 192.0.2.1, ", "X-Forwarded-For: 192.0.2"] {
                    try await Self.expect("401", of: &call, [field])
                }
                // The other field is the client's, which this proxy passes on.
                try await Self.expect("401", of: &call, ["Forwarded: for=nonsense"])
            }
            #expect(try await Figures(of: server)["tidemark_forwarding_unread_total"] == 3)
        }
    }

    @Test func `a request on a proxy's shared connection is counted for the client that it names`()
        async throws
    {
        try await TestServer.running(
            limits: ["STRANGERS_PER_ADDRESS": "1"], environment: Self.trusted
        ) { server in
            try await RawCall.connected(to: server.port) { one in
                try await RawCall.connected(to: server.port) { other in
                    for number in 1...3 {
                        let field = ["X-Forwarded-For: 192.0.2.\(number)"]
                        try await Self.expect("401", of: &one, field)
                        let moved = ["X-Forwarded-For: 192.0.2.\(number + 10)"]
                        try await Self.expect("401", of: &other, moved)
                    }
                }
            }
        }
    }

    @Test func `a PROXY protocol header names the connection's client, whatever requests say`() async throws {
        let log = LogCapture()
        try await TestServer.running(
            limits: ["STRANGERS_PER_ADDRESS": "1"],
            environment: Self.trusted.merging(["TIDEMARK_PROXY_PROTOCOL": "1"]) { $1 }, log: log
        ) { server in
            try await RawCall.connected(to: server.port) { call in
                // In two pieces; the second packet also holds what follows.
                let header = Self.header()
                try await call.send(Array(header[..<9]))
                try await call.send(
                    Array(header[9...]) + Array("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
                let answer = try await call.read()
                #expect(answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
                try await Self.expect("401", of: &call, ["X-Forwarded-For: 203.0.113.9"])
                try await RawCall.connected(to: server.port) { same in
                    try await same.send(Self.header())
                    let rest = try await same.readToEnd()
                    #expect(rest == "")
                }
                try await RawCall.connected(to: server.port) { other in
                    try await other.send(Self.header([192, 0, 2, 8]))
                    try await Self.expect("401", of: &other, [])
                }
            }
            try await RawCall.connected(to: server.port) { probe in
                try await probe.send(Self.header(version: 0x20, family: 0))
                try await Self.expect("401", of: &probe, [])
            }
        }
        #expect(log.lines.count { $0.contains("label=no_room peer=192.0.2.7") } == 1)
        #expect(!log.lines.contains { $0.contains("203.0.113") })
    }

    @Test func `a connection of a proxy without the header, or with a wrong or a long one, is closed`() async throws {
        try await TestServer.running(
            environment: Self.trusted.merging(["TIDEMARK_PROXY_PROTOCOL": "1"].merging(TestServer.operated) { $1 }) {
                $1
            },
            change: { $0.edge.proxyHeaderDeadline = .milliseconds(300) }
        ) { server in
            let wrong: [[UInt8]] = [
                Array("GET /healthz HTTP/1.1\r\n\r\n".utf8), Array("PROXY TCP4 192.0.2.7 10.0.0.1 1 2\r\n".utf8),
                Self.header(version: 0x31), Self.header(version: 0x22), Self.header(length: 4),
                Self.header(length: 0xffff), Array(Self.header()[..<20]), [],
            ]
            for bytes in wrong {
                try await RawCall.connected(to: server.port) { call in
                    try await call.send(bytes)
                    let answer = try await call.readToEnd()
                    #expect(answer == "", "\(bytes)")
                }
            }
            let figures = try await server.figures(
                until: #"tidemark_openings_failed_total{reason="proxy_header"}"#, reaches: Double(wrong.count))
            #expect(figures[#"tidemark_openings_failed_total{reason="proxy_header"}"#] == Double(wrong.count))
        }
    }

    @Test func `an untrusted peer that sends such a header is refused`() async throws {
        try await TestServer.running(
            environment: ["TIDEMARK_TRUSTED_PROXIES": "192.0.2.0/24", "TIDEMARK_PROXY_PROTOCOL": "1"]
        ) { server in
            try await RawCall.connected(to: server.port) { call in
                try await call.send(Self.header() + Array("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
                let answer = try await call.readToEnd()
                #expect(answer.hasPrefix("HTTP/1.1 400"), "\(answer)")
            }
            #expect(try await server.call("GET", "/healthz").status == 200)
        }
    }

    @Test func `the log has the client's address for a socket behind a proxy`() async throws {
        let log = LogCapture()
        try await TestServer.running(environment: Self.trusted, log: log) { server in
            try await RawCall.connected(to: server.port) { call in
                try await call.openSocket(fields: ["X-Forwarded-For: 192.0.2.77"])
                // An invalid message of the protocol.
                try await call.send([0x81, 0x82, 0, 0, 0, 0, 0x7b, 0x7d])
                _ = try await call.read()
            }
        }
        #expect(log.lines.contains { $0.contains("Closed a connection label=4400 peer=192.0.2.77") }, "\(log.lines)")
    }

    @Test func `the log has the client's address for a refused token, by call and by socket`() async throws {
        let log = LogCapture()
        try await TestServer.running(environment: Self.trusted, log: log) { server in
            try await RawCall.connected(to: server.port) { call in
                let fields = ["X-Forwarded-For: 192.0.2.78", Self.badToken]
                try await Self.expect("401", of: &call, fields)
            }
            try await RawCall.connected(to: server.port) { call in
                try await call.openSocket(fields: ["X-Forwarded-For: 192.0.2.79"])
                try await call.say(
                    .hello(Hello(token: "no.token.atall", client: Sample.id(1), isNewClient: true, connection: 1)))
                _ = try await call.read()
            }
        }
        for address in ["192.0.2.78", "192.0.2.79"] {
            #expect(log.lines.count { $0.contains("Refused a token") && $0.contains("peer=\(address)") } == 1)
        }
    }
}
