import TidemarkModel
import TidemarkWire

/// A message of the server in a recording: decodable, with the values that the machine uses, and without contents.
///
/// It is never longer than the received message, so that a replay can fill it up with white space to the same size.
struct RecordedMessage: Sendable {
    /// The number of outcomes recorded of a frame, besides refusals.
    static let outcomesMax = 16
    /// The number of a comparison's marks that are recorded.
    static let marksMax = 8
    /// The largest size in bytes of a message that a replay makes, whatever a file contains.
    static let bytesMax = 16 << 20

    /// The message without contents.
    private(set) var writer = JSONWriter(capacity: 320)
    /// The number of rows, entries and scopes that are left out.
    private(set) var left = 0
    private var isFirst = true

    /// - Throws: an error for bytes that are not a message of a known kind.
    init(_ bytes: [UInt8]) throws {
        let kind = try JSONReader.peek(bytes) { try $0.firstMember("t") }
        // A server of this version begins with the kind.
        guard let kind else {
            self = try RecordedMessage(ServerMessage.decode(bytes).encode())
            return
        }
        writer.string("{\"t\":", kind)
        isFirst = false
        try JSONReader.read(bytes) { reader in
            try reader.object { reader, key in try member(key, of: kind, &reader) }
        }
        writer.byte(UInt8(ascii: "}"))
    }

    /// Returns whether a member is kept unchanged; `member` handles all others.
    private static func keeps(_ kind: String, _ key: String) -> Bool {
        switch (kind, key) {
        case ("changes", "ts"), ("changes", "live"), ("changes", "done"), ("changes", "durable"), ("changes", "acl"),
            ("page", "rid"), ("page", "scope"), ("page", "since"), ("page", "coll"), ("page", "next"),
            ("err", "code"), ("err", "msg"), ("err", "rid"), ("err", "retry_ms"), ("err", "lmid"),
            ("auth_ok", "exp"), ("goaway", "after_ms"), ("goaway", "why"),
            ("eph", "scope"), ("eph", "user"), ("eph", "k"), ("eph", "ttl"),
            ("history", "rid"), ("history", "scope"), ("history", "coll"), ("history", "id"), ("history", "next"),
            ("compared", "rid"), ("compared", "scope"), ("compared", "since"), ("compared", "coll"),
            ("compared", "parts"), ("compared", "next"):
            true
        case ("welcome", _):
            switch key {
            case "v", "server", "user", "schema", "epoch", "state", "lmid", "now", "exp", "hb", "limits", "eph", "to",
                "ids", "compare", "durable", "lost", "left":
                true
            default: false
            }
        default: false
        }
    }

    private mutating func member(_ key: String, of kind: String, _ reader: inout JSONReader) throws {
        if Self.keeps(kind, key) {
            begin(key)
            return writer.raw(try reader.raw())
        }
        switch (kind, key) {
        case ("changes", "base"), ("changes", "cur"), ("welcome", "cur"), ("welcome", "end"):
            let cursor = try reader.string()
            begin(key)
            writer.string(cursor.isEmpty ? "" : Self.standIn(cursor))
        case ("changes", "g"): try groups(&reader)
        case ("changes", "you"): try settled(&reader)
        case ("welcome", "parts"):
            try reader.skip()
            begin(key)
            writer.literal("{\"of\":1,\"in\":[]}")
        case ("compared", "list"): try marks(&reader)
        case ("page", "r"), ("history", "e"), ("welcome", "keep"), ("welcome", "purge"), ("welcome", "new"),
            ("welcome", "roles"), ("welcome", "out"):
            try reader.array { reader in
                left += 1
                try reader.skip()
            }
        default: try reader.skip()
        }
    }

    /// Returns a cursor's hash, unless the cursor is shorter than that.
    static func standIn(_ cursor: String) -> String {
        let hash = RecordedHash(cursor).text
        return cursor.utf8.count >= hash.utf8.count ? hash : cursor
    }

    private mutating func begin(_ key: String) {
        if isFirst { isFirst = false } else { writer.byte(UInt8(ascii: ",")) }
        writer.string(key)
        writer.byte(UInt8(ascii: ":"))
    }

    /// Writes only the first scope, and counts the records.
    private mutating func groups(_ reader: inout JSONReader) throws {
        var scope: String?
        try reader.array { reader in
            try reader.object { reader, key in
                switch key {
                case "s":
                    let name = try reader.string()
                    scope = scope ?? name
                case "r":
                    try reader.array { reader in
                        left += 1
                        try reader.skip()
                    }
                default: try reader.skip()
                }
            }
        }
        guard let scope else { return }
        begin("g")
        writer.string("[{\"s\":", scope)
        writer.literal("}]")
    }

    /// Writes outcomes without the text of refusals, and without overwritten values.
    private mutating func settled(_ reader: inout JSONReader) throws {
        begin("you")
        writer.byte(UInt8(ascii: "{"))
        var isFirst = true
        try reader.object { reader, key in
            guard key == "n" || key == "res" else { return try reader.skip() }
            if isFirst { isFirst = false } else { writer.byte(UInt8(ascii: ",")) }
            writer.string(key)
            writer.byte(UInt8(ascii: ":"))
            if key == "n" { return writer.integer(try reader.integer()) }
            writer.byte(UInt8(ascii: "["))
            var count = 0
            try reader.array { reader in
                guard let outcome = try Self.outcome(&reader, isWanted: count < Self.outcomesMax) else { return }
                if count > 0 { writer.byte(UInt8(ascii: ",")) }
                writer.raw(outcome)
                count += 1
            }
            writer.byte(UInt8(ascii: "]"))
        }
        writer.byte(UInt8(ascii: "}"))
    }

    /// - Parameter isWanted: true to record it even if it is no refusal.
    private static func outcome(_ reader: inout JSONReader, isWanted: Bool) throws -> [UInt8]? {
        var outcome = JSONWriter(capacity: 96)
        var (index, isRefusal) = (0, false)
        outcome.byte(UInt8(ascii: "["))
        try reader.array { reader in
            defer { index += 1 }
            if index == 4 { isRefusal = reader.peek() == UInt8(ascii: "\"") }
            guard index < 4 || index == 4 && isRefusal else { return try reader.skip() }
            if index > 0 { outcome.byte(UInt8(ascii: ",")) }
            outcome.raw(try reader.raw())
        }
        if isRefusal { outcome.literal(",\"\"") }
        outcome.byte(UInt8(ascii: "]"))
        return isWanted || isRefusal ? outcome.bytes : nil
    }

    private mutating func marks(_ reader: inout JSONReader) throws {
        begin("list")
        writer.byte(UInt8(ascii: "["))
        var count = 0
        try reader.array { reader in
            defer { count += 1 }
            guard count < Self.marksMax else {
                left += 1
                return try reader.skip()
            }
            if count > 0 { writer.byte(UInt8(ascii: ",")) }
            writer.raw(try reader.raw())
        }
        writer.byte(UInt8(ascii: "]"))
    }
}

extension RecordedMessage {
    /// Writes a received message: its size, a hash, and the part that is kept.
    ///
    /// - Parameters:
    ///   - isRefused: true when the machine could not decode it; a replay then uses another undecodable message.
    ///   - keepsValues: true to record the message whole.
    static func write(
        _ bytes: [UInt8], isRefused: Bool, keepsValues: Bool, to writer: inout JSONWriter
    ) {
        writer.integer("{\"n\":", Int64(bytes.count))
        writer.string(",\"h\":", RecordedHash(bytes).text)
        if keepsValues {
            writer.string(",\"raw\":", String(decoding: bytes, as: UTF8.self))
            // Bytes that are not a message are recorded by their size alone.
        } else if !isRefused, let message = try? RecordedMessage(bytes), message.writer.bytes.count <= bytes.count {
            if message.left > 0 { writer.integer(",\"left\":", Int64(message.left)) }
            writer.literal(",\"m\":")
            writer.raw(message.writer.bytes)
        }
        writer.byte(UInt8(ascii: "}"))
    }

    /// Returns the message that a replay gives the machine.
    ///
    /// - Throws: `MalformedRecording`.
    static func bytes(_ recorded: FieldValue) throws -> [UInt8] {
        guard case .object(let fields) = recorded else { throw MalformedRecording("a message is not an object") }
        if case .string(let raw)? = fields["raw"] { return Array(raw.utf8) }
        guard case .integer(let count)? = fields["n"], (0...Int64(bytesMax)).contains(count) else {
            throw MalformedRecording("a message lacks its size")
        }
        var bytes = fields["m"].map { Array(ordered($0).utf8) } ?? [UInt8(ascii: "?")]
        bytes += [UInt8](repeating: UInt8(ascii: " "), count: max(0, Int(count) - bytes.count))
        return bytes
    }

    /// Returns the message with the kind first, which a decoder expects: parsing has sorted the names.
    private static func ordered(_ message: FieldValue) -> String {
        guard case .object(var fields) = message else { return message.json }
        let kind = fields["t"]
        fields["t"] = nil
        let rest = FieldValue.object(fields).json.dropFirst()
        let separator = fields.isEmpty ? "" : ","
        return "{\"t\":\((kind ?? .null).json)\(separator)\(rest)"
    }
}

/// A line of a recording that cannot be parsed.
package struct MalformedRecording: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
