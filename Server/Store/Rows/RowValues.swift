package import TidemarkModel

/// Reads the values of a row from the first to the last, as the contract's types. Each call throws `StoreError` of kind
/// `invariant` for a value that is missing, or of another kind.
package struct RowValues {
    private let table: StoredTable
    private let row: TableRow
    private var index = 0

    package init(_ row: TableRow, of table: StoredTable) {
        self.row = row
        self.table = table
    }

    /// Reads a text that is UTF-8.
    package mutating func text() throws(StoreError) -> String {
        guard case .text(let bytes) = next(), let text = bytes.withUnsafeBufferPointer({ String(validUTF8: $0) }) else {
            throw wrong
        }
        return text
    }

    /// Reads a number, or a boolean as 0 or 1.
    package mutating func integer() throws(StoreError) -> Int64 {
        guard let value = try optionalInteger() else { throw wrong }
        return value
    }

    /// `nil` for NULL.
    package mutating func optionalInteger() throws(StoreError) -> Int64? {
        switch next() {
        case .null: return nil
        case .integer(let value): return value
        case .text, .bytes: throw wrong
        }
    }

    /// Returns bytes, or the UTF-8 of a text; `nil` for NULL.
    package mutating func bytes() throws(StoreError) -> [UInt8]? {
        switch next() {
        case .null: return nil
        case .text(let bytes), .bytes(let bytes): return bytes
        case .integer: throw wrong
        }
    }

    /// Reads the 36 characters of a UUID.
    package mutating func id() throws(StoreError) -> UniqueID {
        guard let id = UniqueID(try text()) else { throw wrong }
        return id
    }

    /// Reads the digest of a blob.
    package mutating func digest() throws(StoreError) -> BlobDigest {
        guard let digest = BlobDigest(checking: try text()) else { throw wrong }
        return digest
    }

    /// Reads the name of a workspace.
    package mutating func workspace() throws(StoreError) -> WorkspaceID { WorkspaceID(try text()) }

    /// Reads the id of a scope.
    package mutating func scope() throws(StoreError) -> ScopeID { ScopeID(try text()) }

    /// Reads the collection and the id of a record, from two columns.
    package mutating func key() throws(StoreError) -> RecordKey {
        RecordKey(collection: try text(), id: try id())
    }

    private mutating func next() -> RowValue {
        defer { index += 1 }
        return index < row.count ? row[index] : .null
    }

    /// The error about the value that was read last.
    private var wrong: StoreError {
        let column = index > 0 && index <= table.columns.count ? table.columns[index - 1].name : "a column"
        return StoreError(.invariant, "\(column) is missing, or of another kind")
    }
}
