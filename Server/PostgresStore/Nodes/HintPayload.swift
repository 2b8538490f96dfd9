import TidemarkModel

/// The content of one notification: `<node>;<workspace>:<head>,…`, or `<node>;*` if that would be too long.
///
/// In workspace names the characters `,` `:` `;` `*` and `%` are written as `%` and two hexadecimal digits.
struct HintPayload: Hashable {
    /// PostgreSQL accepts less than 8,000 bytes.
    static let bytesMax = 7_900

    var node: UInt64
    /// `nil` when any workspace may have grown.
    var heads: [WorkspaceID: SequenceNumber]?

    var text: String {
        let all = "\(node);*"
        guard let heads else { return all }
        let parts = heads.sorted { $0.key < $1.key }.map { "\(Self.escape($0.key.text)):\($0.value)" }
        let text = "\(node);" + parts.joined(separator: ",")
        return text.utf8.count < Self.bytesMax ? text : all
    }

    init(node: UInt64, heads: [WorkspaceID: SequenceNumber]?) {
        self.node = node
        self.heads = heads
    }

    /// Reads a payload; `nil` for any other text.
    init?(_ text: String) {
        let halves = text.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, let node = UInt64(halves[0]) else { return nil }
        self.node = node
        guard halves[1] != "*" else { return }
        var heads: [WorkspaceID: SequenceNumber] = [:]
        for part in halves[1].split(separator: ",", omittingEmptySubsequences: false) {
            let pair = part.split(separator: ":", omittingEmptySubsequences: false)
            guard pair.count == 2, let workspace = Self.unescape(pair[0]), let head = SequenceNumber(pair[1])
            else { return nil }
            heads[WorkspaceID(workspace)] = head
        }
        self.heads = heads
    }

    private static let reserved = Array(",:;*%".utf8)

    private static func escape(_ text: String) -> String {
        guard text.utf8.contains(where: reserved.contains) else { return text }
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if reserved.contains(byte) {
                bytes += Array("%\(String(byte, radix: 16))".utf8)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func unescape(_ text: Substring) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.count == 2, digits.allSatisfy(\.isHexDigit), let code = UInt8(digits, radix: 16)
            else { return nil }
            bytes.append(code)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
