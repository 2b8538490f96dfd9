import TidemarkLock
import TidemarkModel

/// Which field a property of a model stands for; `KEYPATHS.md` says why it needs no declaration.
enum PropertyNames {
    /// The field's name: what the model's `fieldNames` say, else the name of the stored property.
    ///
    /// - Throws: `StoreError` with `unknownName` for a key path that is no stored property.
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

    /// The field's name, or the error for when it is used.
    static func result<Model: SyncModel>(of property: PartialKeyPath<Model>) -> Result<String, StoreError> {
        Result { () throws(StoreError) in try field(of: property) }
    }

    /// What the property is called in the program; `nil` for one that is computed, or part of another.
    static func storedName<Model: SyncModel>(of property: PartialKeyPath<Model>) -> String? {
        if #available(iOS 16.4, macOS 13.3, *) { return describedName(of: property) }
        return laidOutName(of: property)
    }

    /// The same where a key path cannot say it: of a part of another property that begins where that one does, it is that one's
    /// name. Only of structures.
    static func laidOutName<Model: SyncModel>(of property: PartialKeyPath<Model>) -> String? {
        MemoryLayout<Model>.offset(of: property).flatMap { StoredLayout(Model.self)?.name(at: $0) }
    }

    @available(iOS 16.4, macOS 13.3, *)
    private static func describedName<Model: SyncModel>(of property: PartialKeyPath<Model>) -> String? {
        // `\Card.title`, as SE-0369 has it; a computed one has an address in brackets, a part of another one has dots.
        let (text, head) = (property.debugDescription, "\\\(Model.self).")
        guard text.hasPrefix(head) else { return nil }
        let name = text.dropFirst(head.count)
        let isName = name.unicodeScalars.allSatisfy { $0 == "_" || $0.properties.isXIDContinue }
        return isName && !name.isEmpty ? String(name) : nil
    }

    /// As many as the program has properties: only stored ones are kept, which hold no values.
    private static let known = Lock<[Path: String]>([:])

    // Key paths never change, and those that are kept capture nothing.
    private struct Path: Hashable, @unchecked Sendable {
        private let path: AnyKeyPath

        init(_ path: AnyKeyPath) { self.path = path }
    }
}
