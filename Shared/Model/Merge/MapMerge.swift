/// Maps whose keys merge each for itself. A key without a value is not there, so `null` is no value of one.
enum MapMerge {
    /// Only what is there.
    static func canonical(_ map: Fields) -> Fields {
        map.entries.contains { $0.value == .null } ? Fields(sorted: map.entries.filter { $0.value != .null }) : map
    }

    /// The map with these keys set, and without those that are `null`; `nil` where a value is no scalar.
    static func setting(_ keys: Fields, in map: Fields) -> Fields? {
        guard FieldType.map.canonical(.object(keys)) != nil else { return nil }
        var result = canonical(map)
        for entry in keys.entries { result[entry.name] = entry.value == .null ? nil : entry.value }
        return result
    }

    /// What the map has under these keys; `nil` where that is nothing.
    static func part(of map: FieldValue?, under keys: Fields) -> FieldValue? {
        guard case .object(let map)? = map else { return nil }
        let part = map.entries.filter { keys[$0.name] != nil && $0.value != .null }
        return part.isEmpty ? nil : .object(Fields(sorted: part))
    }

    /// Why the map cannot be stored; `nil` where it can.
    static func refusal(of map: Fields) -> Rejection? {
        if map.entries.count > ModelLimits.mapKeysMax {
            return Rejection(
                .tooLarge, "\(map.entries.count) keys are over the limit of \(ModelLimits.mapKeysMax)")
        }
        guard let key = map.entries.first(where: { !(1...ModelLimits.mapKeyBytesMax).contains($0.name.utf8.count) })
        else { return nil }
        return Rejection(
            .invalid,
            "a key has 1 to \(ModelLimits.mapKeyBytesMax) bytes, and \"\(key.name.excerpt())\" has \(key.name.utf8.count)"
        )
    }
}

extension FieldPatch {
    /// What the patch is about in a field's value: the keys that it names, or all of it.
    package func part(of value: FieldValue?) -> FieldValue? {
        if case .keys(let keys) = self { MapMerge.part(of: value, under: keys) } else { value }
    }
}
