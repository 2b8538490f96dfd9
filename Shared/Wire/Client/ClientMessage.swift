package import TidemarkModel

/// Every message that a client may send on a connection.
package enum ClientMessage: Hashable, Sendable {
    case hello(Hello)
    case push(Push)
    case ack(Ack)
    case page(PageRequest)
    case history(HistoryRequest)
    case compare(CompareRequest)
    case auth(Auth)
    case ephemeral(Ephemeral)
    case bye
    /// A message of a kind that starts with `x-`: ignored.
    case unknownExtension

    /// Decodes one message.
    ///
    /// - Parameter limits: the bounds for transactions; a server passes those that it advertises.
    /// - Throws: `WireError` for anything but a well-formed message of a known kind.
    package static func decode(
        _ bytes: [UInt8], limits: ModelLimits = ModelLimits()
    ) throws(WireError) -> ClientMessage {
        let kind = try MessageReader.kind(of: bytes)
        switch kind {
        case "hello": return .hello(try Hello.decode(bytes))
        case "push": return .push(try Push.decode(bytes, limits: limits))
        case "ack": return .ack(try Ack.decode(bytes))
        case "page": return .page(try PageRequest.decode(bytes))
        case "history": return .history(try HistoryRequest.decode(bytes))
        case "compare": return .compare(try CompareRequest.decode(bytes))
        case "auth": return .auth(try Auth.decode(bytes))
        case "eph": return .ephemeral(try Ephemeral.decode(bytes, isNamed: false))
        case "bye":
            try MessageReader.skip(bytes)
            return .bye
        default:
            try MessageReader.skip(bytes)
            if kind.hasPrefix("x-") { return .unknownExtension }
            throw WireError("unknown message \"\(kind.excerpt())\"")
        }
    }

    /// Returns the message's bytes.
    package func encode() -> [UInt8] {
        switch self {
        case .hello(let message): message.encode()
        case .push(let message): message.encode()
        case .ack(let message): message.encode()
        case .page(let message): message.encode()
        case .history(let message): message.encode()
        case .compare(let message): message.encode()
        case .auth(let message): message.encode()
        case .ephemeral(let message): message.encode()
        case .bye: Array("{\"t\":\"bye\"}".utf8)
        case .unknownExtension: Array("{\"t\":\"x-\"}".utf8)
        }
    }
}

/// Shared steps of decoding one message.
enum MessageReader {
    /// Returns the value of the message's `t`. If it is the first member, as it should be, nothing behind it is read
    /// yet.
    static func kind(of bytes: [UInt8]) throws(WireError) -> String {
        do {
            return try JSONReader.peek(bytes) { reader in
                if let kind = try reader.firstMember("t") { return kind }
                var kind: String?
                try reader.object { reader, key in
                    if key == "t" { kind = try reader.string() } else { try reader.skip() }
                }
                guard let kind else { throw WireError("\"t\" is missing") }
                return kind
            }
        } catch let error as WireError {
            throw error
        } catch {
            throw WireError("not a JSON object: \(error)")
        }
    }

    /// Checks the structure of a message without members that matter.
    static func skip(_ bytes: [UInt8]) throws(WireError) {
        do {
            try JSONReader.read(bytes) { try $0.skip() }
        } catch {
            throw WireError("not a JSON object: \(error)")
        }
    }

    /// Reads the members of the message's one object; unknown ones are for `member` to skip.
    static func members(
        of bytes: [UInt8], _ message: StaticString, _ member: (inout JSONReader, String) throws -> Void
    ) throws(WireError) {
        do {
            try JSONReader.read(bytes) { try $0.object(member) }
        } catch let error as WireError {
            throw WireError("\(message): \(error)")
        } catch {
            throw WireError("\(message): \(error)")
        }
    }

    static func id(_ reader: inout JSONReader) throws -> UniqueID {
        if let id = reader.takePlainID() { return id }
        // The string may contain escapes, like any other.
        guard let id = UniqueID(try reader.string()) else { throw reader.failure("not a UUID") }
        return id
    }

    static func name<Name: NameID>(_ reader: inout JSONReader, _ type: Name.Type) throws -> Name {
        guard let name = Name(checking: try reader.string()) else {
            throw reader.failure("not a name of 1 to 128 bytes without control characters")
        }
        return name
    }

    /// Reads a whole number from 0 to 2^53 - 1.
    static func count(_ reader: inout JSONReader) throws -> Int64 {
        let number = try reader.integer()
        guard (0..<9_007_199_254_740_992).contains(number) else { throw reader.failure("out of range") }
        return number
    }

    /// The furthest time from 1970, in milliseconds: some 285,000 years. Sums and differences of such times cannot
    /// overflow.
    static let timeMax: Milliseconds = 1 << 53

    /// Reads a time in milliseconds since 1970. A time beyond the bound becomes the bound, which is good enough to be
    /// shown.
    static func time(_ reader: inout JSONReader) throws -> Milliseconds {
        min(max(try reader.integer(), -timeMax), timeMax)
    }

    /// Reads the elements of a short array of fixed length, each by its own closure; more or fewer are an error.
    static func tuple(_ reader: inout JSONReader, _ elements: [(inout JSONReader) throws -> Void]) throws {
        var index = 0
        try reader.array { reader in
            guard index < elements.count else { throw reader.failure("too many elements") }
            try elements[index](&reader)
            index += 1
        }
        guard index == elements.count else { throw reader.failure("too few elements") }
    }

    /// Reads `[[scope, since], …]`.
    static func heldScopes(_ reader: inout JSONReader) throws -> [HeldScope] {
        var held: [HeldScope] = []
        try reader.array { reader in
            var scope: ScopeID?
            var since: Int64 = 0
            try tuple(&reader, [{ scope = try name(&$0, ScopeID.self) }, { since = try count(&$0) }])
            if let scope { held.append(HeldScope(scope: scope, since: since)) }
        }
        return held
    }
}

/// A scope with the grant under which a client holds it.
package struct HeldScope: Hashable, Sendable {
    package var scope: ScopeID
    package var since: SequenceNumber

    package init(scope: ScopeID, since: SequenceNumber) {
        self.scope = scope
        self.since = since
    }

    func write(to writer: inout JSONWriter) {
        writer.byte(UInt8(ascii: "["))
        writer.string(scope.text)
        writer.byte(UInt8(ascii: ","))
        writer.integer(since)
        writer.byte(UInt8(ascii: "]"))
    }
}
