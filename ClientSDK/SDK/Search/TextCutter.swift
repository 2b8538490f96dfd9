/// Cuts a text into the words that search finds, each folded by ``CharacterFolding``, with its position in the text.
///
/// If one character folds to several words, the first has the character's position, and the others end with it.
struct TextCutter {
    /// Receives a word and the range of its bytes in the text; a result other than 0 ends the cutting.
    typealias Tell = (UnsafeBufferPointer<UInt8>, Range<Int>) -> CInt

    private var folding = CharacterFolding()
    private var word: [UInt8] = []
    private var start = 0
    private var end = 0

    /// - Returns: 0, or the first other result.
    mutating func cut(_ text: UnsafeBufferPointer<UInt8>, _ tell: Tell) -> CInt {
        word.removeAll(keepingCapacity: true)
        var position = 0
        while position < text.count {
            // With an accent or a selector after it, it is not an ASCII character.
            guard Self.isPlain(text, position) else {
                let first = position
                repeat { position += 1 } while position < text.count && !Self.isPlain(text, position)
                let code = cut(UnsafeBufferPointer(rebasing: text[first..<position]), from: first, tell)
                guard code == 0 else { return code }
                continue
            }
            switch text[position] {
            case let byte where 0x61...0x7a ~= byte || 0x30...0x39 ~= byte: add(byte, at: position)
            case let byte where 0x41...0x5a ~= byte: add(byte | 0x20, at: position)
            default:
                let code = endWord(tell)
                guard code == 0 else { return code }
            }
            position += 1
        }
        return endWord(tell)
    }

    /// Returns whether a text has a word.
    mutating func hasWord(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in cut(bytes) { _, _ in 1 } } != 0
    }

    @inline(__always)
    private static func isPlain(_ text: UnsafeBufferPointer<UInt8>, _ position: Int) -> Bool {
        text[position] < 0x80 && (position + 1 == text.count || text[position + 1] < 0x80)
    }

    @inline(__always)
    private mutating func add(_ byte: UInt8, at position: Int) {
        if word.isEmpty { start = position }
        word.append(byte)
        end = position + 1
    }

    private mutating func cut(_ run: UnsafeBufferPointer<UInt8>, from offset: Int, _ tell: Tell) -> CInt {
        let text = String(decoding: run, as: UTF8.self)
        // Invalid UTF-8 has no words: its positions would differ.
        guard text.utf8.count == run.count else { return endWord(tell) }
        var position = offset
        for character in text {
            let next = position + character.utf8.count
            let folded = folding.fold(character)
            var first = position
            for part in folded.parts {
                let code = take(part, first..<(folded.isUnchanged ? first + part.count : next), tell)
                guard code == 0 else { return code }
                first = folded.isUnchanged ? first + part.count : next
            }
            position = next
        }
        return 0
    }

    private mutating func take(_ part: CharacterFolding.Part, _ place: Range<Int>, _ tell: Tell) -> CInt {
        switch part {
        case .letters(let bytes):
            if word.isEmpty { start = place.lowerBound }
            word.append(contentsOf: bytes)
            end = place.upperBound
            return 0
        case .word(let bytes):
            let code = endWord(tell)
            guard code == 0 else { return code }
            return bytes.withUnsafeBufferPointer { tell($0, place) }
        case .gap: return endWord(tell)
        }
    }

    private mutating func endWord(_ tell: Tell) -> CInt {
        guard !word.isEmpty else { return 0 }
        defer { word.removeAll(keepingCapacity: true) }
        return word.withUnsafeBufferPointer { tell($0, start..<end) }
    }
}

extension CharacterFolding.Part {
    fileprivate var count: Int {
        switch self {
        case .letters(let bytes), .word(let bytes): bytes.count
        case .gap: 0
        }
    }
}
