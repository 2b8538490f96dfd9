/// Sets of strings in canonical form: each element once, sorted by UTF-8 bytes.
enum SetMerge {
    static func canonical(_ elements: [FieldValue]) -> FieldValue? {
        guard let sorted = sortedUnique(elements) else { return nil }
        return .array(sorted)
    }

    static func union(_ current: [FieldValue], _ added: [FieldValue]) -> [FieldValue]? {
        sortedUnique(current + added)
    }

    static func subtracting(_ current: [FieldValue], _ removed: [FieldValue]) -> [FieldValue]? {
        guard sortedUnique(removed) != nil else { return nil }
        let gone = Set(removed)
        return current.filter { !gone.contains($0) }
    }

    private static func sortedUnique(_ elements: [FieldValue]) -> [FieldValue]? {
        var texts: [String] = []
        texts.reserveCapacity(elements.count)
        for element in elements {
            guard case .string(let text) = element else { return nil }
            texts.append(text)
        }
        texts.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        var unique: [FieldValue] = []
        unique.reserveCapacity(texts.count)
        for index in texts.indices where index == 0 || !texts[index].hasSameBytes(as: texts[index - 1]) {
            unique.append(.string(texts[index]))
        }
        return unique
    }
}
