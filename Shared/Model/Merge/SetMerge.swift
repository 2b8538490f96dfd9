/// Sets of strings in canonical form: each element once, sorted by UTF-8 bytes.
///
/// A set that is already canonical is not sorted again: adding some names to ten thousand takes one search per name.
enum SetMerge {
    static func canonical(_ elements: [FieldValue]) -> [FieldValue]? {
        isCanonical(elements) ? elements : sortedUnique(elements)
    }

    static func union(_ current: [FieldValue], _ added: [FieldValue]) -> [FieldValue]? {
        guard let added = canonical(added) else { return nil }
        guard isCanonical(current) else { return sortedUnique(current + added) }
        let missing = added.filter { !contains(current, $0) }
        if missing.isEmpty { return current }
        var union: [FieldValue] = []
        union.reserveCapacity(current.count + missing.count)
        var start = 0
        for element in missing {
            let index = firstIndex(in: current, notBelow: element)
            union += current[start..<index]
            union.append(element)
            start = index
        }
        union += current[start...]
        return union
    }

    static func subtracting(_ current: [FieldValue], _ removed: [FieldValue]) -> [FieldValue]? {
        guard let removed = canonical(removed) else { return nil }
        guard isCanonical(current) else {
            let gone = Set(removed)
            return current.filter { !gone.contains($0) }
        }
        var rest: [FieldValue] = []
        rest.reserveCapacity(current.count)
        var start = 0
        for element in removed {
            let index = firstIndex(in: current, notBelow: element)
            guard index < current.count, current[index] == element else { continue }
            rest += current[start..<index]
            start = index + 1
        }
        if start == 0 { return current }
        rest += current[start...]
        return rest
    }

    /// Whether a canonical set has the element.
    static func contains(_ set: [FieldValue], _ element: FieldValue) -> Bool {
        let index = firstIndex(in: set, notBelow: element)
        return index < set.count && set[index] == element
    }

    /// Returns the elements that are in exactly one of two canonical sets, sorted.
    static func difference(_ one: [FieldValue], _ other: [FieldValue]) -> [FieldValue] {
        if one == other { return [] }
        var difference: [FieldValue] = []
        var (left, right) = (0, 0)
        while left < one.count, right < other.count {
            let order = order(one[left], other[right])
            if order == 0 {
                left += 1
                right += 1
            } else if order < 0 {
                difference.append(one[left])
                left += 1
            } else {
                difference.append(other[right])
                right += 1
            }
        }
        difference += one[left...]
        difference += other[right...]
        return difference
    }

    private static func isCanonical(_ elements: [FieldValue]) -> Bool {
        guard let first = elements.first else { return true }
        guard case .string = first else { return false }
        for index in elements.indices.dropFirst() {
            guard case .string(let text) = elements[index], case .string(let before) = elements[index - 1],
                before.byteOrder(text) < 0
            else { return false }
        }
        return true
    }

    private static func firstIndex(in set: [FieldValue], notBelow element: FieldValue) -> Int {
        var (low, high) = (0, set.count)
        while low < high {
            let middle = (low + high) / 2
            if order(set[middle], element) < 0 { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns the byte order of two elements of canonical sets, which are strings.
    private static func order(_ one: FieldValue, _ other: FieldValue) -> Int {
        guard case .string(let one) = one, case .string(let other) = other else { return 0 }
        return one.byteOrder(other)
    }

    private static func sortedUnique(_ elements: [FieldValue]) -> [FieldValue]? {
        var texts: [String] = []
        texts.reserveCapacity(elements.count)
        for element in elements {
            guard case .string(let text) = element else { return nil }
            texts.append(text)
        }
        texts.sort { $0.byteOrder($1) < 0 }
        var unique: [FieldValue] = []
        unique.reserveCapacity(texts.count)
        for index in texts.indices where index == 0 || !texts[index].hasSameBytes(as: texts[index - 1]) {
            unique.append(.string(texts[index]))
        }
        return unique
    }
}
