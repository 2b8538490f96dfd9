public import Foundation

/// One record on its way out of the database, read field by field by a model's `init(reading:)`.
///
///     init(reading record: inout RecordReader) throws {
///         id = try record["id"]
///         conversationId = try record["conversationId"]
///         text = try record["text"]
///         readBy = try record["readBy"] ?? []
///     }
///
/// The names are those that the coding keys of the model would have, so what every record has goes by `id`, `serverID`,
/// `serverTime`, `createdTime`, `author` and `syncState`. An optional is `nil` when the field is not set. Names that are
/// asked for in the same order with each record are found fastest.
///
/// Subscripts throw what the decoding of the same value throws, and the read then throws `StoreError` with `coding`, which
/// names record, field and reason.
public struct RecordReader: ~Copyable {
    let source: RecordSource

    /// The record as a decoder, for the initializer that `Codable` gives.
    var decoder: ColumnDecoder<RecordSource> { ColumnDecoder(source: source) }
}

extension RecordReader {
    /// A field that must be set.
    public subscript(_ name: StaticString) -> String { mutating get throws { try source.required(source.place(name)) } }
    /// A field; `nil` when it is not set.
    public subscript(_ name: StaticString) -> String? {
        mutating get throws { try source.optional(source.place(name)) }
    }

    /// A field that must be set.
    public subscript(_ name: StaticString) -> Int { mutating get throws { try source.required(source.place(name)) } }
    /// A field; `nil` when it is not set.
    public subscript(_ name: StaticString) -> Int? { mutating get throws { try source.optional(source.place(name)) } }

    /// A field that must be set.
    public subscript(_ name: StaticString) -> Int64 { mutating get throws { try source.required(source.place(name)) } }
    /// A field; `nil` when it is not set.
    public subscript(_ name: StaticString) -> Int64? { mutating get throws { try source.optional(source.place(name)) } }

    /// A field that must be set.
    public subscript(_ name: StaticString) -> Double { mutating get throws { try source.required(source.place(name)) } }
    /// A field; `nil` when it is not set.
    public subscript(_ name: StaticString) -> Double? {
        mutating get throws { try source.optional(source.place(name)) }
    }

    /// A field that must be set.
    public subscript(_ name: StaticString) -> Bool { mutating get throws { try source.required(source.place(name)) } }
    /// A field; `nil` when it is not set.
    public subscript(_ name: StaticString) -> Bool? { mutating get throws { try source.optional(source.place(name)) } }

    /// A field that must be set.
    public subscript(_ name: StaticString) -> Date { mutating get throws { try source.required(source.place(name)) } }
    /// A field; `nil` when it is not set.
    public subscript(_ name: StaticString) -> Date? { mutating get throws { try source.optional(source.place(name)) } }

    /// A field that must be set.
    public subscript(_ name: StaticString) -> UUID { mutating get throws { try source.required(source.place(name)) } }
    /// A field; `nil` when it is not set.
    public subscript(_ name: StaticString) -> UUID? { mutating get throws { try source.optional(source.place(name)) } }

    /// A field that must be set.
    public subscript(_ name: StaticString) -> Set<String> {
        mutating get throws { try source.required(source.place(name)) }
    }
    /// A field; `nil` when it is not set.
    public subscript(_ name: StaticString) -> Set<String>? {
        mutating get throws { try source.optional(source.place(name)) }
    }

    /// A field that must be set.
    public subscript(_ name: StaticString) -> RecordState {
        mutating get throws { try source.required(source.place(name)) }
    }
    /// A field; `nil` when it is not set.
    public subscript(_ name: StaticString) -> RecordState? {
        mutating get throws { try source.optional(source.place(name)) }
    }

    /// A field of any type that decodes: a nested struct, an enumeration, an array.
    ///
    /// - Parameters:
    ///   - name: the field's.
    ///   - type: told by what the value is for; an optional is better read by the other subscript.
    public subscript<Value: Decodable>(_ name: StaticString, _ type: Value.Type = Value.self) -> Value {
        mutating get throws { try source.requiredIndirectly(try source.place(name)) }
    }
    /// A field of any type that decodes; `nil` when it is not set.
    public subscript<Value: Decodable>(_ name: StaticString) -> Value? {
        mutating get throws { try source.optionalIndirectly(try source.place(name)) }
    }
}

// It stands at a row of a connection that belongs to the thread of the read.
@available(*, unavailable)
extension RecordReader: Sendable {}
