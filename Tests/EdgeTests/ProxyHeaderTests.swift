import NIOCore
import Testing

@testable import TidemarkEdge

/// Headers of the PROXY protocol, version 2, in every split.
@Suite struct ProxyHeaderTests {
    private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]

    private static func header(_ version: UInt8, _ family: UInt8, _ body: [UInt8]) -> [UInt8] {
        signature + [version, family, UInt8(body.count >> 8), UInt8(body.count & 0xff)] + body
    }

    private static let four: [UInt8] = [192, 0, 2, 1, 10, 0, 0, 1, 0x12, 0x34, 0, 80]
    private static let six: [UInt8] = [0x20, 1, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11) + [1]

    private static func read(_ bytes: [UInt8], bytesMax: Int = 2_048) throws(ProxyHeader.Fault) -> (ProxyHeader?, Int) {
        var buffer = ByteBuffer(bytes: bytes)
        let header = try ProxyHeader.take(from: &buffer, bytesMax: bytesMax)
        return (header, buffer.readableBytes)
    }

    @Test func `it is removed once it is complete, and the bytes after it stay`() throws {
        let (one, other) = (
            ProxyHeader.of(try SocketAddress(ipAddress: "192.0.2.1", port: 0x1234)),
            ProxyHeader.of(try SocketAddress(ipAddress: "2001:db8::1", port: 1))
        )
        let table: [([UInt8], ProxyHeader)] = [
            (Self.header(0x21, 0x11, Self.four), one),
            (Self.header(0x21, 0x11, Self.four + [4, 0, 3, 1, 2, 3]), one),
            (Self.header(0x21, 0x21, Self.six + Self.six + [0, 1, 0, 2]), other),
            (Self.header(0x20, 0x11, Self.four), .ofProxy), (Self.header(0x20, 0, []), .ofProxy),
            (Self.header(0x21, 0, [1, 2, 3]), .ofProxy),
            (Self.header(0x21, 0x31, [UInt8](repeating: 0, count: 216)), .ofProxy),
            (Self.header(0x21, 0x12, Self.four), .ofProxy),
        ]
        for (bytes, expected) in table {
            for count in 0..<bytes.count {
                let (early, left) = try Self.read(Array(bytes[..<count]))
                #expect(early == nil && left == count)
            }
            let (header, left) = try Self.read(bytes + [71, 69])
            #expect(header == expected && left == 2)
        }
    }

    @Test func `an invalid header is refused at its first wrong byte`() {
        for place in Self.signature.indices {
            var bytes = Array(Self.signature[...place])
            bytes[place] ^= 1
            #expect(throws: ProxyHeader.Fault.notAHeader) { try Self.read(bytes) }
        }
        for version in [0x11, 0x31, 0x22, 0x2f, 0x00] as [UInt8] {
            #expect(throws: ProxyHeader.Fault.malformed) { try Self.read(Self.header(version, 0x11, Self.four)) }
        }
        #expect(throws: ProxyHeader.Fault.malformed) {
            try Self.read(Self.header(0x21, 0x11, Array(Self.four.dropLast())))
        }
        #expect(throws: ProxyHeader.Fault.malformed) { try Self.read(Self.header(0x21, 0x21, Self.four)) }
        // By its announced length, before the rest has arrived.
        let long = Array(Self.header(0x21, 0x11, [UInt8](repeating: 0, count: 513))[..<16])
        #expect(throws: ProxyHeader.Fault.tooLong) { try Self.read(long, bytesMax: 512) }
    }
}
