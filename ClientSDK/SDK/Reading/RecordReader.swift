public import Foundation

/// One record of the database, read field by field by a model's `init(reading:)`.
///
///     init(reading record: inout RecordReader) throws {
///         id = try record["id"]
///         conversationId = try record["conversationId"]
///         text = try record["text"]
///         readBy = try record["readBy"] ?? []
///     }
///
/// The names are those of the model's coding keys. The values that every record has are named `id`, `serverID`,
/// `serverTime`, `createdTime`, `author` and `syncState`. An optional is `nil` when the field is not set. Names are
/// found fastest when they are asked for in the same order for each record.
///
/// A subscript throws what decoding the same value throws. The read then throws `StoreError` with `coding`, which names
/// record, field and reason.
public struct RecordReader: ~Copyable {
    let source: RecordSource

    /// The record as a decoder, for the initializer that `Codable` synthesizes.
    var decoder: ColumnDecoder<RecordSource> { ColumnDecoder(source: source) }
}

extension RecordReader {
    /// Returns a field that must be set.
    public subscript(_ name: StaticString) -> String {
        mutating get throws { try source.required(source.index(of: name)) }
    }
    /// Returns a field; `nil` when it is not set.
    public subscript(_ name: StaticString) -> String? {
        mutating get throws { try source.optional(source.index(of: name)) }
    }

    /// Returns a field that must be set.
    public subscript(_ name: StaticString) -> Int {
        mutating get throws { try source.required(source.index(of: name)) }
    }
    /// Returns a field; `nil` when it is not set.
    public subscript(_ name: StaticString) -> Int? {
        mutating get throws { try source.optional(source.index(of: name)) }
    }

    /// Returns a field that must be set.
    public subscript(_ name: StaticString) -> Int64 {
        mutating get throws { try source.required(source.index(of: name)) }
    }
    /// Returns a field; `nil` when it is not set.
    public subscript(_ name: StaticString) -> Int64? {
        mutating get throws { try source.optional(source.index(of: name)) }
    }

    /// Returns a field that must be set.
    public subscript(_ name: StaticString) -> Double {
        mutating get throws { try source.required(source.index(of: name)) }
    }
    /// Returns a field; `nil` when it is not set.
    public subscript(_ name: StaticString) -> Double? {
        mutating get throws { try source.optional(source.index(of: name)) }
    }

    /// Returns a field that must be set.
    public subscript(_ name: StaticString) -> Bool {
        mutating get throws { try source.required(source.index(of: name)) }
    }
    /// Returns a field; `nil` when it is not set.
    public subscript(_ name: StaticString) -> Bool? {
        mutating get throws { try source.optional(source.index(of: name)) }
    }

    /// Returns a field that must be set.
    public subscript(_ name: StaticString) -> Date {
        mutating get throws { try source.required(source.index(of: name)) }
    }
    /// Returns a field; `nil` when it is not set.
    public subscript(_ name: StaticString) -> Date? {
        mutating get throws { try source.optional(source.index(of: name)) }
    }

    /// Returns a field that must be set.
    public subscript(_ name: StaticString) -> UUID {
        mutating get throws { try source.required(source.index(of: name)) }
    }
    /// Returns a field; `nil` when it is not set.
    public subscript(_ name: StaticString) -> UUID? {
        mutating get throws { try source.optional(source.index(of: name)) }
    }

    /// Returns a field that must be set.
    public subscript(_ name: StaticString) -> Set<String> {
        mutating get throws { try source.required(source.index(of: name)) }
    }
    /// Returns a field; `nil` when it is not set.
    public subscript(_ name: StaticString) -> Set<String>? {
        mutating get throws { try source.optional(source.index(of: name)) }
    }

    /// Returns a field that must be set.
    public subscript(_ name: StaticString) -> RecordState {
        mutating get throws { try source.required(source.index(of: name)) }
    }
    /// Returns a field; `nil` when it is not set.
    public subscript(_ name: StaticString) -> RecordState? {
        mutating get throws { try source.optional(source.index(of: name)) }
    }

    /// Returns a field of any type that can be decoded: a nested struct, an enumeration, an array.
    ///
    /// - Parameters:
    ///   - name: the field's name.
    ///   - type: inferred from the context; for an optional, the other subscript is better.
    public subscript<Value: Decodable>(_ name: StaticString, _ type: Value.Type = Value.self) -> Value {
        mutating get throws { try source.requiredIndirectly(try source.index(of: name)) }
    }
    /// Returns a field of any type that can be decoded; `nil` when it is not set.
    public subscript<Value: Decodable>(_ name: StaticString) -> Value? {
        mutating get throws { try source.optionalIndirectly(try source.index(of: name)) }
    }
}

// It refers to the current row of a connection, which belongs to the thread of the read.
@available(*, unavailable)
extension RecordReader: Sendable {}
