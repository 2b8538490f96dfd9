/// Blanks comments and string contents of Swift source, keeping every line where it is.
///
/// It knows nested comments, raw and multi-line strings, interpolation, extended regex literals and raw identifiers.
/// It does not know regex literals between bare slashes: a quote in one confuses it until the end of that line at most.
struct CodeScanner {
    private let source: [UInt8]
    private var codeBytes: [UInt8] = []
    private var proseBytes: [UInt8] = []
    private var position = 0

    var code: String { String(decoding: codeBytes, as: UTF8.self) }
    var prose: String { String(decoding: proseBytes, as: UTF8.self) }

    init(_ text: String) {
        source = Array(text.utf8)
        codeBytes.reserveCapacity(source.count)
        proseBytes.reserveCapacity(source.count)
    }

    mutating func run() {
        scanCode(isInterpolation: false)
    }

    private enum View { case everywhere, proseOnly, nowhere }

    private func byte(_ offset: Int = 0) -> UInt8? {
        let index = position + offset
        return index < source.count ? source[index] : nil
    }

    private func begins(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { wanted in
            position + wanted.count <= source.count
                && wanted.indices.allSatisfy { source[position + $0] == wanted[$0] }
        }
    }

    /// Moves on by `count` bytes, showing them in `view` and blanks elsewhere; newlines stay in every view.
    private mutating func advance(_ count: Int, _ view: View) {
        for byte in source[position..<min(position + count, source.count)] {
            let blank = byte == UInt8(ascii: "\n") ? byte : UInt8(ascii: " ")
            codeBytes.append(view == .everywhere ? byte : blank)
            proseBytes.append(view == .nowhere ? blank : byte)
        }
        position = min(position + count, source.count)
    }

    /// Scans to the end, or in an interpolation to the parenthesis that closes it.
    private mutating func scanCode(isInterpolation: Bool) {
        let shown: View = isInterpolation ? .nowhere : .everywhere
        var depth = 0
        while let next = byte() {
            switch next {
            case UInt8(ascii: "/") where begins("//"):
                scanLineComment(isInterpolation ? .nowhere : .proseOnly)
            case UInt8(ascii: "/") where begins("/*"):
                scanBlockComment(isInterpolation ? .nowhere : .proseOnly)
            case UInt8(ascii: "\""):
                scanString(hashes: 0, edge: shown)
            case UInt8(ascii: "#"):
                scanHashes(shown)
            case UInt8(ascii: "`"):
                scanRawIdentifier(shown)
            case UInt8(ascii: "("):
                depth += 1
                advance(1, shown)
            case UInt8(ascii: ")"):
                depth -= 1
                advance(1, shown)
                if isInterpolation, depth < 0 { return }
            default:
                advance(1, shown)
            }
        }
    }

    private mutating func scanLineComment(_ view: View) {
        while let next = byte(), next != UInt8(ascii: "\n") {
            advance(1, view)
        }
    }

    private mutating func scanBlockComment(_ view: View) {
        var depth = 0
        repeat {
            if begins("/*") {
                depth += 1
                advance(2, view)
            } else if begins("*/") {
                depth -= 1
                advance(2, view)
            } else {
                advance(1, view)
            }
        } while depth > 0 && position < source.count
    }

    /// A `#` begins a raw string, an extended regex, or something of no interest here.
    private mutating func scanHashes(_ shown: View) {
        var hashes = 0
        while byte(hashes) == UInt8(ascii: "#") { hashes += 1 }
        switch byte(hashes) {
        case UInt8(ascii: "\""):
            advance(hashes, shown)
            scanString(hashes: hashes, edge: shown)
        case UInt8(ascii: "/"):
            advance(hashes + 1, shown)
            while position < source.count, !(begins("/") && hasHashes(hashes, at: 1)) { advance(1, .nowhere) }
            advance(hashes + 1, shown)
        default:
            advance(hashes, shown)
        }
    }

    private func hasHashes(_ count: Int, at offset: Int) -> Bool {
        (0..<count).allSatisfy { byte(offset + $0) == UInt8(ascii: "#") }
    }

    /// Begins at the opening quote. A single-line string ends with its line, whatever it contains.
    private mutating func scanString(hashes: Int, edge: View) {
        let quotes = begins("\"\"\"") ? 3 : 1
        advance(quotes, edge)
        while let next = byte() {
            if next == UInt8(ascii: "\\"), hasHashes(hashes, at: 1) {
                if byte(1 + hashes) == UInt8(ascii: "(") {
                    advance(2 + hashes, .nowhere)
                    scanCode(isInterpolation: true)
                } else {
                    advance(2 + hashes, .nowhere)
                }
            } else if quotes == 3 ? begins("\"\"\"") : next == UInt8(ascii: "\""), hasHashes(hashes, at: quotes) {
                advance(quotes + hashes, edge)
                return
            } else if quotes == 1, next == UInt8(ascii: "\n") {
                return
            } else {
                advance(1, .nowhere)
            }
        }
    }

    /// A sentence between backquotes becomes one identifier of underscores, so that its words match no rule.
    private mutating func scanRawIdentifier(_ shown: View) {
        let rest = source[(position + 1)...].prefix { $0 != UInt8(ascii: "`") && $0 != UInt8(ascii: "\n") }
        guard source.indices.contains(rest.endIndex), source[rest.endIndex] == UInt8(ascii: "`") else {
            return advance(1, shown)
        }
        let isSentence = rest.contains(UInt8(ascii: " "))
        advance(1, shown)
        let start = codeBytes.count
        advance(rest.count, shown)
        if isSentence, shown != .nowhere {
            for index in start..<codeBytes.count {
                codeBytes[index] = UInt8(ascii: "_")
                proseBytes[index] = UInt8(ascii: "_")
            }
        }
        advance(1, shown)
    }
}
