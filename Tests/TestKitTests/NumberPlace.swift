/// A number in a JSON message, and the keys that lead to it; elements of a list of objects share their paths.
struct NumberPlace {
    let range: Range<Int>
    let place: String

    /// The numbers that are not part of a string.
    static func all(in message: [UInt8]) -> [NumberPlace] {
        var found: [NumberPlace] = []
        // The key, or in a list the element's index, at each depth.
        var path: [String] = []
        var position: [Int] = []
        var index = 0
        while index < message.count {
            switch message[index] {
            case UInt8(ascii: "{"):
                path.append("")
                position.append(-1)
            case UInt8(ascii: "["):
                path.append("[]")
                position.append(0)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                path.removeLast()
                position.removeLast()
            case UInt8(ascii: ","):
                if let last = position.last, last >= 0 { position[position.count - 1] = last + 1 }
            case UInt8(ascii: "\""):
                let begin = index + 1
                index += 1
                while message[index] != UInt8(ascii: "\"") { index += message[index] == UInt8(ascii: "\\") ? 2 : 1 }
                if index + 1 < message.count, message[index + 1] == UInt8(ascii: ":") {
                    path[path.count - 1] = String(decoding: message[begin..<index], as: UTF8.self)
                }
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                let begin = index
                while index + 1 < message.count, "-+.0123456789eE".utf8.contains(message[index + 1]) { index += 1 }
                let element = position.last.map { $0 >= 0 ? ["\(min($0, 3))"] : [] } ?? []
                found.append(NumberPlace(range: begin..<index + 1, place: (path + element).joined(separator: ".")))
            default: break
            }
            index += 1
        }
        return found
    }
}
