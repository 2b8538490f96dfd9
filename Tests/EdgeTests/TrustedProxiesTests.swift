import NIOCore
import NIOHTTP1
import Testing

@testable import TidemarkEdge

/// The client's address of a request, as proxies write it.
@Suite struct TrustedProxiesTests {
    private static func proxies(_ field: TrustedProxies.Field) throws -> TrustedProxies {
        let ranges = ["10.0.0.0/8", "fd00::/8"].compactMap(AddressRange.init)
        return TrustedProxies(ranges, field: field)
    }

    private static func word(_ address: String?) throws -> TrustedProxies.Word {
        try address.map { .client(try SocketAddress(ipAddress: $0, port: 0)) } ?? .unreadable
    }

    @Test(
        arguments: [
            (["192.0.2.1"], "192.0.2.1"), (["192.0.2.1, 198.51.100.2"], "198.51.100.2"),
            (["192.0.2.1,10.1.1.1 ,\t10.2.2.2"], "192.0.2.1"), (["192.0.2.1", "198.51.100.2"], "198.51.100.2"),
            (["192.0.2.1", "10.1.1.1"], "192.0.2.1"), (["10.1.1.1, 10.2.2.2"], "10.1.1.1"),
            (["192.0.2.1:4711"], "192.0.2.1"), (["2001:db8::1"], "2001:db8::1"), (["[2001:db8::1]:443"], "2001:db8::1"),
            (["[2001:db8::1]"], "2001:db8::1"), (["junk, \", 192.0.2.1, fd00::7"], "192.0.2.1"),
            (["::ffff:10.1.1.1, ::ffff:10.1.1.2"], "::ffff:10.1.1.1"),
            ([""], nil), (["192.0.2.1,"], nil), (["192.0.2.1, unknown"], nil), (["192.0.2.1 198.51.100.2"], nil),
            (["192.0.2.256"], nil), (["192.0.2.1:99999999"], nil), (["192.0.2.1:x"], nil), (["[192.0.2.1]"], nil),
            (["[2001:db8::1"], nil), (["junk, 10.1.1.1"], nil), (["fe80::1%eth0"], nil), (["example.org"], nil),
            ([[String](repeating: "10.1.1.1", count: 33).joined(separator: ",")], nil),
        ] as [([String], String?)])
    func `the right-most address that is not a proxy's is used, and addresses left of it are not read`(
        _ values: [String], _ expected: String?
    ) throws {
        let headers = HTTPHeaders(values.map { ("X-Forwarded-For", $0) })
        #expect(try Self.proxies(.xForwardedFor).client(in: headers) == Self.word(expected))
    }

    @Test(
        arguments: [
            (["for=192.0.2.1"], "192.0.2.1"), (["For=\"[2001:db8::1]:4711\";proto=https"], "2001:db8::1"),
            (["for=192.0.2.1;by=10.1.1.1, for=198.51.100.2"], "198.51.100.2"),
            (["proto=http; for=192.0.2.1"], "192.0.2.1"), (["for=\"192.0.2.9:80\", for=10.1.1.1"], "192.0.2.9"),
            (["for=\"x, for=192.0.2.1"], "192.0.2.1"), (["for=192.0.2.1", "for=10.1.1.1"], "192.0.2.1"),
            (["for=unknown"], nil), (["for=_hidden"], nil), (["by=192.0.2.1"], nil), (["192.0.2.1"], nil),
            (["for=\""], nil),
        ] as [([String], String?)])
    func `the same in the form of RFC 7239`(_ values: [String], _ expected: String?) throws {
        let headers = HTTPHeaders(values.map { ("Forwarded", $0) })
        #expect(try Self.proxies(.forwarded).client(in: headers) == Self.word(expected))
    }

    @Test func `the field that the proxy does not write is ignored`() throws {
        let headers: HTTPHeaders = ["Forwarded": "for=192.0.2.1", "X-Real-IP": "192.0.2.1"]
        #expect(try Self.proxies(.xForwardedFor).client(in: headers) == .nothing)
        #expect(try Self.proxies(.forwarded).client(in: ["X-Forwarded-For": "192.0.2.1"]) == .nothing)
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("10.0.0.0/8", "::ffff:10.1.2.3", true),
        ("192.0.2.129/25", "192.0.2.200", true), ("192.0.2.129/25", "192.0.2.1", false),
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false), ("fd00::/8", "fdff::1", true),
        ("fd00::/8", "fe00::1", false), ("::1", "::1", true), ("::1", "127.0.0.1", false),
        ("0.0.0.0/0", "1.2.3.4", true),
        ("0.0.0.0/0", "2001:db8::1", false), ("::/0", "2001:db8::1", true),
        ("2001:db8::/33", "2001:db8:8000::1", false),
    ])
    func `a block contains its addresses`(_ block: String, _ address: String, _ isIn: Bool) throws {
        let range = try #require(AddressRange(block))
        #expect(range.contains(try SocketAddress(ipAddress: address, port: 1)) == isIn)
        #expect(range.isEverything == block.hasSuffix("/0"))
    }

    @Test(arguments: [
        "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0/8", "::/129", "a/8", "10.0.0.0/8/8", "10.0.0.0/+8",
    ])
    func `an invalid block is refused`(_ text: String) {
        #expect(AddressRange(text) == nil)
    }
}
