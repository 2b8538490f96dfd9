import Foundation
import Testing
import TidemarkModel
import TidemarkWire

/// PROTOCOL.md is normative: what it lists is what the code knows.
@Suite struct `Protocol page` {
    private let page: String

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        page = try String(contentsOf: root.appending(path: "Shared/PROTOCOL.md"), encoding: .utf8)
    }

    @Test func `every code of the code is on the page`() {
        for code in RejectionCode.allCases { #expect(page.contains("`\(code.rawValue)`"), "\(code.rawValue)") }
        for code in ErrorCode.allCases { #expect(page.contains("`\(code.rawValue)`"), "\(code.rawValue)") }
        for code in CloseCode.allCases { #expect(page.contains("\(code.rawValue)"), "\(code.rawValue)") }
    }

    @Test func `every advertised limit is on the page with its default`() throws {
        var advertised = WireLimits()
        advertised.blobBytesMax = WireLimits.blobBytesDefault
        let welcome = Welcome(
            server: "s", epoch: 1, cursorState: .none, cursor: "c", kept: [], purged: [], added: [], settledThrough: 0,
            now: 0, tokenExpires: 0, heartbeat: 0, limits: advertised)
        let fields = try JSONReader.read(ServerMessage.welcome(welcome).encode()) { try $0.fields() }
        guard case .object(let limits)? = fields["limits"] else {
            Issue.record("welcome has no limits")
            return
        }
        #expect(limits.entries.count == 14)
        for limit in limits.entries {
            #expect(page.contains("| `\(limit.name)` | \(limit.value.json) |"), "\(limit.name)")
        }
    }

    @Test func `every bound of ephemeral messages is on the page with its default`() throws {
        let welcome = GoldenFrames.ephemeralServer[0].0
        let fields = try JSONReader.read(welcome.encode()) { try $0.fields() }
        guard case .object(let limits)? = fields["eph"] else {
            Issue.record("welcome has no bounds")
            return
        }
        #expect(limits.entries.count == 3)
        for limit in limits.entries {
            #expect(page.contains("| `eph.\(limit.name)` | \(limit.value.json) |"), "\(limit.name)")
        }
    }

    @Test func `every example on the page is a message that decodes`() throws {
        var examples = 0
        var isExample = false
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                isExample = line == "```json"
            } else if isExample {
                examples += 1
                let bytes = Array(line.replacing("…", with: "x").utf8)
                let isKnown = (try? ClientMessage.decode(bytes)) != nil || (try? ServerMessage.decode(bytes)) != nil
                #expect(isKnown, "\(line)")
            }
        }
        #expect(examples >= 7)
    }

    @Test func `every member of a mutation that the code writes is on the page`() {
        for name in ["put", "patch", "del", "undel", "set", "inc", "add", "rem", "max", "unset", "was"] {
            #expect(page.contains("`\(name)`"), "\(name)")
        }
    }
}
