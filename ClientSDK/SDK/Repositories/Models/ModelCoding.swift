import TidemarkModel

/// Converts between an app's model and a record's fields.
struct ModelCoding<Model: SyncModel> {
    let collection: CollectionSchema

    /// - Throws: `StoreError` with `coding` when the model cannot hold the record, e.g. when a required value is
    ///   missing.
    func model(_ record: LocalRecord, _ state: RecordState) throws -> Model {
        do throws(Undecodable) {
            return try decoded(record, state)
        } catch {
            throw error.named
        }
    }

    /// Decodes a record for lists, which leave out a record that the model cannot hold.
    func decoded(_ record: LocalRecord, _ state: RecordState) throws(Undecodable) -> Model {
        var fields = record.fields
        for column in EnvelopeColumn.allCases where collection.field(column.rawValue) == nil {
            fields[column.rawValue] = column.value(record, state)
        }
        if let key = collection.keyField { fields[EnvelopeColumn.id.rawValue] = fields[key] }
        for entry in collection.defaults.entries where fields[entry.name] == nil { fields[entry.name] = entry.value }
        do {
            let absent = AbsentValues(Model.self, in: collection)
            return try FieldDecoder.decode(Model.self, from: .object(fields), absent: absent)
        } catch {
            throw Undecodable(record: UndecodableRecord(record.key, as: Model.self, error))
        }
    }

    /// Returns everything that the model encodes, unchanged.
    func encoded(_ model: Model) throws -> Fields {
        let value: FieldValue
        do {
            value = try FieldEncoder.encode(model)
        } catch {
            throw StoreError(.coding, "\(collection.name): \(StoreError.reason(error))")
        }
        guard case .object(let encoded) = value else {
            throw StoreError(.coding, "\(collection.name): the model does not encode as an object")
        }
        return encoded
    }

    /// Returns the fields that the model sets.
    func fields(_ model: Model) throws -> Fields { collection.fields(set: try encoded(model)) }

    /// Returns the fields that the model sets for a restore, with `null` for those that would stay if they were left
    /// out.
    func restoring(_ model: Model) throws -> Fields {
        var fields = try fields(model)
        let declared = Dictionary(
            Model.fieldNames.compactMap { property, name in
                PropertyNames.storedName(of: property).map { ($0, name) }
            }, uniquingKeysWith: { first, _ in first })
        for child in Mirror(reflecting: model).children {
            let value = Mirror(reflecting: child.value)
            guard let label = child.label, value.displayStyle == .optional, value.children.isEmpty else { continue }
            let name = declared[label] ?? label
            if fields[name] == nil, collection.field(name)?.change != nil { fields[name] = .null }
        }
        return fields
    }

    /// - Throws: `StoreError` with `coding` for an id that the collection does not use.
    func key(_ id: Model.ID) throws(StoreError) -> RecordKey {
        RecordKey(collection: collection.name, id: try collection.recordID(id))
    }
}

extension CollectionSchema {
    /// Returns the fields that a model's encoding sets, as they are stored.
    func fields(set encoded: Fields) -> Fields {
        var entries: [Fields.Entry] = []
        entries.reserveCapacity(encoded.entries.count)
        for entry in encoded.entries where entry.value != .null {
            let name = fieldName(entry.name)
            let field = field(name)
            if field == nil, EnvelopeColumn(rawValue: name) != nil { continue }
            entries.append(Fields.Entry(name: name, value: field?.type.canonical(entry.value) ?? entry.value))
        }
        // They are already in order, except for a key. A model that also has the key under its own name sets it twice.
        return Fields(unsorted: entries) ?? entries.reduce(into: Fields()) { $0[$1.name] = $1.value }
    }
}

extension StoreError {
    /// Returns the reason as text, for the message of an error that names the record or the collection.
    static func reason(_ error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, _): "\(key.stringValue) is not set, and the type requires it"
        case DecodingError.dataCorrupted(let context), DecodingError.typeMismatch(_, let context),
            DecodingError.valueNotFound(_, let context):
            "\(context.codingPath.map(\.stringValue).joined(separator: ".")): \(context.debugDescription)"
        case EncodingError.invalidValue(_, let context):
            "\(context.codingPath.map(\.stringValue).joined(separator: ".")): \(context.debugDescription)"
        default: "\(error)"
        }
    }
}
