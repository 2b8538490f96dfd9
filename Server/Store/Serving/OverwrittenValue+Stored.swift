package import TidemarkModel

extension OverwrittenValue {
    /// Reads the stored form: the rule's name, and the values as JSON.
    ///
    /// - Throws: `StoreError` of kind `invariant` when a store cannot have written it.
    package init(stored field: String, rule: String, old: [UInt8]?, new: [UInt8]?) throws(StoreError) {
        guard let rule = MergeRule(rawValue: rule) else { throw StoreError(.invariant, "a stored rule is unknown") }
        do {
            let (old, new) = try (old.map(Self.value), new.map(Self.value))
            self.init(field: field, rule: rule, old: old, new: new)
        } catch {
            throw StoreError(.invariant, "a stored value of the ledger cannot be parsed: \(error)")
        }
    }

    private static func value(_ json: [UInt8]) throws -> FieldValue { try JSONReader.read(json) { try $0.value() } }
}
