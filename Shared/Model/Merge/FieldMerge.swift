/// Applies one patch to one field under the field's rule. It is pure, and the only code that merges values: the
/// sequencer, the client's rebase and the simulator's oracle all call it.
enum FieldMerge {
    /// Returns the value after the patch; `nil` if the field is then absent.
    static func apply(
        _ named: NamedPatch, to current: FieldValue?, field: FieldSchema, isService: Bool
    ) throws(PatchRefusal) -> FieldValue? {
        let patch = named.patch
        switch field.merge {
        case .server where !isService: throw PatchRefusal("only the server writes it")
        case .server, .lww: return try lastWrite(patch, current, field)
        case .manual:
            let written = try lastWrite(patch, current, field)
            // Without a mark of the value seen, only a write that overwrites nothing passes; a service is trusted.
            let isAware = named.seen.map { $0 == ValueMark(current, of: field) } ?? (isService || current == nil)
            // Two writers of the same value do not disagree.
            guard isAware || written == current else { throw .contested }
            return written
        case .immutable: throw PatchRefusal("cannot change after creation")
        case .set: return try growingSet(patch, current)
        case .elements: return try elements(patch, current)
        case .keys: return try keys(patch, current)
        case .counter: return try counter(patch, current, field)
        case .max: return try maximum(patch, current, field)
        }
    }

    private static func lastWrite(
        _ patch: FieldPatch, _ current: FieldValue?, _ field: FieldSchema
    ) throws(PatchRefusal) -> FieldValue? {
        switch patch {
        case .set(.null), .unset:
            if field.isRequired { throw PatchRefusal("is required") }
            return nil
        case .set(let value): return try typed(value, field)
        case .increment, .add, .remove, .max, .keys:
            throw PatchRefusal("rule \(field.merge.rawValue) takes set and unset")
        }
    }

    private static func growingSet(_ patch: FieldPatch, _ current: FieldValue?) throws(PatchRefusal) -> FieldValue? {
        switch patch {
        case .add(let added), .set(.array(let added)): return try union(current, added)
        default: throw PatchRefusal("rule set only takes add")
        }
    }

    private static func elements(_ patch: FieldPatch, _ current: FieldValue?) throws(PatchRefusal) -> FieldValue? {
        switch patch {
        case .add(let added): return try union(current, added)
        case .remove(let removed):
            guard let rest = SetMerge.subtracting(present(current), removed) else {
                throw PatchRefusal("not a set of strings")
            }
            return .array(rest)
        default: throw PatchRefusal("rule elements takes add and remove")
        }
    }

    /// Sets keys of a map. An app that knows the field under rule `lww` sets the whole map: the keys in it are set, and
    /// keys that it leaves out stay.
    private static func keys(_ patch: FieldPatch, _ current: FieldValue?) throws(PatchRefusal) -> FieldValue? {
        let written: Fields
        switch patch {
        case .keys(let keys), .set(.object(let keys)): written = keys
        default: throw PatchRefusal("rule keys takes keys")
        }
        var map = Fields()
        if case .object(let fields)? = current { map = fields }
        guard let merged = MapMerge.setting(written, in: map) else {
            throw PatchRefusal("the values of a map are text, numbers and booleans")
        }
        return .object(merged)
    }

    private static func counter(
        _ patch: FieldPatch, _ current: FieldValue?, _ field: FieldSchema
    ) throws(PatchRefusal) -> FieldValue? {
        guard case .increment(let written) = patch else { throw PatchRefusal("rule counter only takes increment") }
        let step = try typed(written, field)
        switch (current ?? (field.type == .integer ? .integer(0) : .double(0)), step) {
        case (.integer(let value), .integer(let step)):
            let (sum, overflow) = value.addingReportingOverflow(step)
            if overflow { throw PatchRefusal("the counter would overflow") }
            return .integer(sum)
        case (.double(let value), .double(let step)):
            guard (value + step).isFinite else { throw PatchRefusal("the counter would overflow") }
            return .double(value + step)
        default: throw PatchRefusal("must be \(field.type.rawValue)")
        }
    }

    private static func maximum(
        _ patch: FieldPatch, _ current: FieldValue?, _ field: FieldSchema
    ) throws(PatchRefusal) -> FieldValue? {
        let value: FieldValue
        switch patch {
        case .max(let written), .set(let written): value = try typed(written, field)
        case .unset, .increment, .add, .remove, .keys: throw PatchRefusal("rule max only takes max")
        }
        guard let current else { return value }
        return current.isLess(than: value) == true ? value : current
    }

    private static func typed(_ value: FieldValue, _ field: FieldSchema) throws(PatchRefusal) -> FieldValue {
        guard let canonical = field.type.canonical(value) else {
            throw PatchRefusal("must be \(field.type.rawValue), not \(value.kind)")
        }
        return canonical
    }

    private static func union(_ current: FieldValue?, _ added: [FieldValue]) throws(PatchRefusal) -> FieldValue {
        guard let union = SetMerge.union(present(current), added) else { throw PatchRefusal("not a set of strings") }
        return .array(union)
    }

    private static func present(_ current: FieldValue?) -> [FieldValue] {
        if case .array(let elements)? = current { return elements }
        return []
    }
}

/// The reason why a patch does not apply. It becomes a `Rejection` that begins with the names of collection and field.
struct PatchRefusal: Error {
    /// The reason; `nil` for a contested field, which others changed since the writer saw it.
    let reason: String?

    /// The refusal of a patch to a contested field.
    static let contested = PatchRefusal(reason: nil)

    init(_ reason: String) { self.init(reason: reason) }

    private init(reason: String?) { self.reason = reason }
}
