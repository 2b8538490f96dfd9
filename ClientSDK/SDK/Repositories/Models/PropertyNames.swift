import TidemarkLock
import TidemarkModel

/// Finds the field that a property of a model maps to. `KEYPATHS.md` explains why this needs no declaration.
enum PropertyNames {
    /// Returns the field's name: from the model's `fieldNames`, or else the name of the stored property.
    ///
    /// - Throws: `StoreError` with `unknownName` for a key path that is not a stored property.
    static func field<Model: SyncModel>(of property: PartialKeyPath<Model>) throws(StoreError) -> String {
        let path = Path(property)
        if let known = known.withLock({ $0[path] }) { return known }
        guard let name = Model.fieldNames[property] ?? storedName(of: property) else {
            throw StoreError(
                .unknownName,
                """
                \(property): is no stored property of \(Model.self), so it names no field; use one, give \
                its field in \(Model.self).fieldNames, or name the field: .named(.equals("field", value))
                """)
        }
        known.withLock { $0[path] = name }
        return name
    }

    /// Returns the field's name, or the error to throw when it is used.
    static func result<Model: SyncModel>(of property: PartialKeyPath<Model>) -> Result<String, StoreError> {
        Result { () throws(StoreError) in try field(of: property) }
    }

    /// Returns the property's name in the program; `nil` for a computed property or a part of another one.
    static func storedName<Model: SyncModel>(of property: PartialKeyPath<Model>) -> String? {
        if #available(iOS 16.4, macOS 13.3, *) { return describedName(of: property) }
        return laidOutName(of: property)
    }

    /// Returns the same from the memory layout, where a key path cannot tell the name. For a part at the start of
    /// another property, it is that property's name. Only for structures.
    static func laidOutName<Model: SyncModel>(of property: PartialKeyPath<Model>) -> String? {
        MemoryLayout<Model>.offset(of: property).flatMap { StoredLayout(Model.self)?.name(at: $0) }
    }

    @available(iOS 16.4, macOS 13.3, *)
    private static func describedName<Model: SyncModel>(of property: PartialKeyPath<Model>) -> String? {
        // `\Card.title`, as defined in SE-0369; a computed property has an address in brackets, a part of another one
        // has dots.
        let (text, head) = (property.debugDescription, "\\\(Model.self).")
        guard text.hasPrefix(head) else { return nil }
        let name = text.dropFirst(head.count)
        let isName = name.unicodeScalars.allSatisfy { $0 == "_" || $0.properties.isXIDContinue }
        return isName && !name.isEmpty ? String(name) : nil
    }

    /// The known names. There are at most as many as the program has stored properties.
    private static let known = Lock<[Path: String]>([:])

    // Key paths never change, and those that are kept capture nothing.
    private struct Path: Hashable, @unchecked Sendable {
        private let path: AnyKeyPath

        init(_ path: AnyKeyPath) { self.path = path }
    }
}
