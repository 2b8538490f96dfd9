import Foundation
import Testing
import TidemarkModel
import TidemarkWire

/// PROTOCOL.md is normative: its lists match the code.
@Suite struct `Protocol page` {
    private let page: String

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        page = try String(contentsOf: root.appending(path: "Shared/PROTOCOL.md"), encoding: .utf8)
    }

    @Test func `every code in the source is on the page`() {
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
        let welcome = try #require(GoldenFrames.server.first { $0.1 == "welcome" }).0
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
        let messages = examples()
        #expect(messages.count >= 25)
        for message in messages {
            let bytes = Array(message.replacing("…", with: "x").utf8)
            let isKnown = (try? ClientMessage.decode(bytes)) != nil || (try? ServerMessage.decode(bytes)) != nil
            #expect(isKnown, "\(message)")
        }
    }

    /// The messages in the blocks of JSON. An empty line separates two messages of one block.
    private func examples() -> [String] {
        page.components(separatedBy: "\n```json\n").dropFirst().flatMap { part in
            let block = part.components(separatedBy: "\n```").first ?? ""
            return block.components(separatedBy: "\n\n")
        }
    }

    @Test func `every message of the annotated session is one of its side`() {
        let messages = session()
        #expect(messages.count >= 13)
        for message in messages {
            let bytes = Array(message.dropFirst(2).utf8)
            if message.hasPrefix(">") {
                #expect(throws: Never.self, "\(message)") { try ClientMessage.decode(bytes) }
            } else {
                #expect(throws: Never.self, "\(message)") { try ServerMessage.decode(bytes) }
            }
        }
    }

    /// The messages of the annotated session, each behind the sign of its side. Lines that continue one are indented.
    private func session() -> [String] {
        var messages: [String] = []
        var isInside = false
        for line in page.split(separator: "\n") {
            if line.hasPrefix("> {") || line.hasPrefix("< {") {
                messages.append(String(line))
                isInside = true
            } else if isInside, line.hasPrefix("   ") {
                messages[messages.count - 1] += line
            } else {
                isInside = false
            }
        }
        return messages
    }

    @Test func `the code computes the page's vectors of canonical JSON and of marks`() throws {
        let cells = try vectors()
        #expect(cells.count >= 20)
        for row in cells {
            let value = try JSONReader.read(Array(row.written.utf8)) { try $0.value() }
            let mark = ValueMark(value, of: FieldSchema(name: "any", type: .json))
            #expect(value.json == row.canonical, "\(row.written)")
            #expect("\(mark.number)" == row.mark, "\(row.written)")
        }
    }

    /// The rows of the table of vectors.
    private func vectors() throws -> [(written: String, canonical: String, mark: String)] {
        let lines = page.split(separator: "\n").drop { $0 != "| written | canonical | mark |" }
        return try lines.dropFirst(2).prefix { $0.hasPrefix("|") }.map { line in
            let cells = line.dropFirst(2).dropLast(2).split(separator: " | ").map(String.init)
            try #require(cells.count == 3, "\(line)")
            return (String(cells[0].dropFirst().dropLast()), String(cells[1].dropFirst().dropLast()), cells[2])
        }
    }

    @Test func `every member of a mutation that the code writes is on the page`() {
        for name in ["put", "patch", "del", "undel", "set", "inc", "add", "rem", "max", "keys", "unset", "was"] {
            #expect(page.contains("`\(name)`"), "\(name)")
        }
    }
}
