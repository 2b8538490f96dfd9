import Foundation
import TidemarkModel

/// Decodes a model from the current row of a query: the way of every model that has no `init(reading:)` of its own.
struct RecordDecoder: Decoder {
    let source: RecordSource
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(ColumnDecodingMembers(source: source))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try whole.unkeyedContainer() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { try whole.singleValueContainer() }

    private var whole: FieldDecoder { get throws { FieldDecoder(value: .object(try source.fields())) } }
}
