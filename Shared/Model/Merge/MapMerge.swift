/// Maps whose keys are merged one by one. A key with the value `null` is absent.
enum MapMerge {
    /// Returns the map without the keys that are `null`.
    static func canonical(_ map: Fields) -> Fields {
        map.entries.contains { $0.value == .null } ? Fields(sorted: map.entries.filter { $0.value != .null }) : map
    }

    /// Returns the map with these keys set, and without those that are `null`; `nil` if a value is not a scalar.
    static func setting(_ keys: Fields, in map: Fields) -> Fields? {
        guard FieldType.map.canonical(.object(keys)) != nil else { return nil }
        var result = canonical(map)
        for entry in keys.entries { result[entry.name] = entry.value == .null ? nil : entry.value }
        return result
    }

    /// Returns the map's values under these keys; `nil` if it has none.
    static func part(of map: FieldValue?, under keys: Fields) -> FieldValue? {
        guard case .object(let map)? = map else { return nil }
        let part = map.entries.filter { keys[$0.name] != nil && $0.value != .null }
        return part.isEmpty ? nil : .object(Fields(sorted: part))
    }

    /// Returns the reason why the map cannot be stored; `nil` if it can.
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
    /// Returns the part of a field's value that the patch concerns: the keys that it names, or the whole value.
    package func part(of value: FieldValue?) -> FieldValue? {
        if case .keys(let keys) = self { MapMerge.part(of: value, under: keys) } else { value }
    }
}
