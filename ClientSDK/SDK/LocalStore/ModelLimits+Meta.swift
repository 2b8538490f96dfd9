import GRDB
import TidemarkModel

extension ModelLimits {
    private static var kept: [(Meta, WritableKeyPath<ModelLimits, Int>)] {
        [
            (.recordBytes, \.recordBytesMax), (.transactionBytes, \.transactionBytesMax), (.mutations, \.mutationsMax),
        ]
    }

    /// Returns these limits, replaced by those that a server sent earlier.
    func remembered(_ db: Database) throws -> ModelLimits {
        var limits = self
        for (meta, path) in Self.kept {
            if let value = try meta.integer(db) { limits[keyPath: path] = Int(clamping: value) }
        }
        return limits
    }

    /// Stores the server's limits, so that they apply without a connection as well.
    func remember(_ db: Database) throws {
        for (meta, path) in Self.kept { try meta.set(Int64(self[keyPath: path]), db) }
    }
}
