public import Foundation
public import TidemarkModel

extension UniqueID {
    /// Converts from Foundation's type; the 128 bits stay the same.
    public init(_ uuid: UUID) {
        let (high, low) = withUnsafeBytes(of: uuid.uuid) { bytes in
            (
                UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        self.init(high: high, low: low)
    }
}

extension UUID {
    /// Converts from Tidemark's type; the 128 bits stay the same.
    public init(_ id: UniqueID) {
        var bytes = uuid_t(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &bytes) { bytes in
            bytes.storeBytes(of: id.high.bigEndian, as: UInt64.self)
            bytes.storeBytes(of: id.low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        self.init(uuid: bytes)
    }
}

extension ScopeID {
    /// The scope that a record opens, by the record's id.
    public init(record id: UUID) { self.init(record: UniqueID(id)) }

    /// Returns the scope that a record opens, by the record's id: `in: .of(list.id)`.
    public static func of(_ id: UUID) -> ScopeID { ScopeID(record: id) }

    /// Returns the scope that a record opens: `in: .of(list)`.
    public static func of<Model: RecordModel>(_ model: Model) -> ScopeID where Model.ID == UUID {
        ScopeID(record: model.id)
    }
}

extension FieldValue {
    /// Returns a reference to a record, as reference and string fields hold it.
    public static func id(_ id: UUID) -> FieldValue { .string(UniqueID(id).description) }

    /// Returns a time, as timestamp fields hold it. Times beyond 292 million years are `null`.
    public static func date(_ date: Date) -> FieldValue { date.fieldValue ?? .null }
}
