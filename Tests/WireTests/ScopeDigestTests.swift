import Foundation
import Testing
import TidemarkModel
import TidemarkWire

/// The digests that a client sends instead of a list of its scopes.
@Suite struct ScopeDigestTests {
    private let room = ScopeID("room")

    @Test func `terms and parts match the page`() throws {
        let vectors: [(scope: String, since: Int64, role: Role, term: UInt64, part: Int)] = [
            ("room", 2, .member, 0xc61c5d972b488061, 8),
            ("room", 2, .owner, 0xc696a02c1c746dc9, 8),
            ("directory", 0, .member, 0x615c86c742269531, 8),
            ("018f3a2b-0000-7000-8000-000000000010", 1, .owner, 0x7859e905976fac1c, 1),
        ]
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        for (scope, since, role, term, part) in vectors {
            #expect(ScopeDigests.term(ScopeID(scope), since: since, role: role) == term)
            #expect(ScopeDigests.part(of: ScopeID(scope), among: 16) == part)
            let digits = String(repeating: "0", count: term.leadingZeroBitCount / 4) + String(term, radix: 16)
            let row = "| `\(scope)` | \(since) | `\(role.rawValue.prefix(1))` | `\(digits)` | \(part) |"
            #expect(page.contains(row), "\(row)")
        }
    }

    private static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Shared/PROTOCOL.md")

    @Test func `the order of scopes does not matter, and a scope, its grant or its role does`() {
        func digest(_ scopes: [(String, Int64, Role)]) -> ScopeDigests {
            var digests = ScopeDigests(parts: 1)
            for (scope, since, role) in scopes { digests.insert(ScopeID(scope), since: since, role: role) }
            return digests
        }
        let some = digest([("a", 10, .member), ("b", 11, .owner)])
        #expect(some == digest([("b", 11, .owner), ("a", 10, .member)]))
        // Exchanged numbers and roles do not cancel each other out.
        for other in [
            digest([("a", 11, .member), ("b", 10, .owner)]), digest([("a", 10, .owner), ("b", 11, .member)]),
            digest([("a", 10, .member)]), digest([("a", 10, .member), ("b", 11, .owner), ("c", 1, .member)]),
            digest([("a1", 0, .member), ("b", 11, .owner)]),
        ] {
            #expect(some.differing(from: other) == [0])
        }
        #expect(some.differing(from: some).isEmpty)
        #expect(some.differing(from: ScopeDigests(parts: 3)) == [0], "another number of parts is no comparison")
    }

    @Test func `changes of many pairs of scopes are visible`() {
        for number in 0..<200 {
            var (before, after) = (ScopeDigests(parts: 1), ScopeDigests(parts: 1))
            for (offset, scope) in ["x\(number)", "y\(number)"].enumerated() {
                before.insert(ScopeID(scope), since: 10 + Int64(offset), role: .member)
                after.insert(ScopeID(scope), since: 11 - Int64(offset), role: .member)
            }
            #expect(before != after)
        }
    }

    @Test func `invalid digests are refused`() {
        let texts = [
            "[]", "[\"\"]", "[\"12\"]", "[\"+123456789abcdef\"]", "[\"123456789abcdefg\"]", "[1]", "{}",
            "[\(Array(repeating: "\"0123456789abcdef\"", count: 257).joined(separator: ","))]",
        ]
        func hello(_ held: String) -> [UInt8] {
            Array(
                """
                {"t":"hello","v":[1],"client":"018f3a2b-0000-7000-8000-000000000001","conn":3,"held":\(held)}
                """.utf8)
        }
        for text in texts { #expect(throws: WireError.self, "\(text)") { try ClientMessage.decode(hello(text)) } }
        #expect(throws: Never.self) { try ClientMessage.decode(hello("[\"0123456789abcdef\"]")) }
    }

    @Test func `missing parts are refused`() {
        func welcome(_ parts: String) -> [UInt8] {
            Array(
                """
                {"t":"welcome","v":1,"server":"n","epoch":1,"state":"ok","cur":"c","lmid":0,"now":1,"exp":1,"hb":1,\
                "parts":\(parts)}
                """.utf8)
        }
        for parts in [
            "{}", "{\"of\":0,\"in\":[]}", "{\"of\":257,\"in\":[]}", "{\"of\":2,\"in\":[2]}", "{\"of\":2,\"in\":[-1]}",
            "{\"of\":9007199254740991,\"in\":[9007199254740991]}", "[]",
        ] {
            #expect(throws: WireError.self, "\(parts)") { try ServerMessage.decode(welcome(parts)) }
        }
        #expect(throws: Never.self) { try ServerMessage.decode(welcome("{\"of\":2,\"in\":[0,1]}")) }
    }
}
