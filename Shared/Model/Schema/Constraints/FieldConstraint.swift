/// The constraints that a schema sets to a field beside its type, rule and `max`. An absent value passes all of them.
///
/// One object that all threads share, like its collection.
package final class FieldConstraint: Sendable {
    package let value: ValueConstraint
    /// The constraint of each element of a set, or of each value of a map.
    package let items: ValueConstraint
    package let minItems: Int?
    package let maxItems: Int?
    package let transitions: Transitions?

    init(
        value: ValueConstraint = ValueConstraint(), items: ValueConstraint = ValueConstraint(), minItems: Int? = nil,
        maxItems: Int? = nil, transitions: Transitions? = nil
    ) {
        self.value = value
        self.items = items
        self.minItems = minItems
        self.maxItems = maxItems
        self.transitions = transitions
    }

    /// True when every value passes.
    var isEmpty: Bool {
        value.isEmpty && items.isEmpty && minItems == nil && maxItems == nil && transitions == nil
    }

    /// Returns the reason against a value that replaces another one; `nil` if it passes. Of a set or a map only those
    /// elements are judged that the change brings.
    func refusal(of new: FieldValue, replacing old: FieldValue?, work: inout Int) -> String? {
        switch new {
        case .array(let elements):
            if let minItems, elements.count < minItems {
                return "must have \(minItems) or more elements, not \(elements.count)"
            }
            if let maxItems, elements.count > maxItems {
                return "must have \(maxItems) or fewer elements, not \(elements.count)"
            }
            guard !items.isEmpty else { return nil }
            var known: [FieldValue] = []
            if case .array(let elements)? = old { known = elements }
            return refusal(ofElements: elements, known, &work)
        case .object(let members):
            guard !items.isEmpty else { return nil }
            var known = Fields()
            if case .object(let members)? = old { known = members }
            for member in members.entries where member.value != .null && known[member.name] != member.value {
                if let reason = items.refusal(of: member.value, work: &work) {
                    return "the value of \(member.name.excerpt(bytes: 32)) \(reason)"
                }
            }
            return nil
        case .null, .boolean, .integer, .double, .string: return value.refusal(of: new, work: &work)
        }
    }

    /// Both lists are in the order of their bytes, as sets are.
    private func refusal(ofElements elements: [FieldValue], _ known: [FieldValue], _ work: inout Int) -> String? {
        var index = 0
        for element in elements {
            while index < known.count, known[index].isLess(than: element) == true { index += 1 }
            if index < known.count, known[index] == element { continue }
            if let reason = items.refusal(of: element, work: &work) { return "each element \(reason)" }
        }
        return nil
    }
}

extension FieldConstraint: Hashable {
    package static func == (left: FieldConstraint, right: FieldConstraint) -> Bool {
        left === right
            || (left.value == right.value && left.items == right.items && left.minItems == right.minItems
                && left.maxItems == right.maxItems && left.transitions == right.transitions)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(value)
        hasher.combine(items)
    }
}

extension FieldConstraint {
    /// The constraints in words, for a schema's summary.
    package var words: [String] {
        var words = value.words
        if let minItems { words.append("\(minItems) or more elements") }
        if let maxItems { words.append("\(maxItems) or fewer elements") }
        words += items.words.map { "each \($0)" }
        if let transitions { words.append(transitions.words) }
        return words
    }
}
