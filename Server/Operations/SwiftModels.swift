package import TidemarkModel

extension Schema {
    /// A model for each collection, as Swift code that compiles: a start that an app changes as it likes.
    ///
    ///     tidemark schema swift app.schema.json > Models.swift
    ///
    /// A property is named like its field. Fields of type `map` and `json` hold a struct that only the app knows: they
    /// are comments, and a model without them leaves them unchanged.
    package var swiftModels: String {
        let types = SwiftTypeNames(collections.map(\.name), of: name)
        let models = collections.map { $0.swiftModel(types[$0.name]) }
        let list = collections.map { "\(types[$0.name]).self" }.joined(separator: ", ")
        return """
            import Foundation
            import Tidemark

            // Models of the schema \(name), version \(version).

            \(models.joined(separator: "\n\n"))

            /// For `SyncStore.open(account:at:schema:models:)`, which says when one of them does not fit the schema.
            enum \(types.all) {
                static let all: [any SyncModel.Type] = [\(list)]
            }

            """
    }
}

/// A type name for each collection: singular if its name is an English plural, and different from Swift's own names.
private struct SwiftTypeNames {
    private var names: [String: String] = [:]
    /// The name of the enum that lists all models.
    let all: String

    /// Types that most files see, and names that no type can have.
    private static let taken: Set<String> = [
        "Any", "Array", "BlobDigest", "Bool", "Codable", "Decodable", "Decoder", "Double", "Encodable", "Encoder",
        "Hashable",
        "Identifiable", "Never", "Optional", "Protocol", "RecordState", "Self", "Sendable", "SyncModel", "SyncStore",
        "Tidemark",
        "Void", "Button", "Character", "Color", "Data", "Date", "Error", "Form", "Group", "Image", "Int",
        "Label",
        "Link", "List", "Menu", "Path", "Process", "Progress", "Result", "Scene", "Section", "Set", "Shape", "State",
        "String", "Tab", "Table", "Task", "Text", "Transaction", "Type", "URL", "UUID", "Unit", "View", "Window",
    ]

    init(_ collections: [String], of schema: String) {
        // A schema may have any name.
        let words = schema.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        let head = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        all = "\(head.first?.isLetter == true ? head : "App")Models"
        var given = Self.taken.union([all])
        for collection in collections {
            var name = Self.singular(collection)
            name = name.prefix(1).uppercased() + name.dropFirst()
            if given.contains(name) { name += "Record" }
            while given.contains(name) { name += "_" }
            given.insert(name)
            names[collection] = name
        }
    }

    subscript(_ collection: String) -> String { names[collection] ?? collection }

    private static func singular(_ plural: String) -> String {
        if plural.hasSuffix("ies"), plural.count > 4 { return plural.dropLast(3) + "y" }
        for end in ["ches", "shes", "sses", "xes", "zes"] where plural.hasSuffix(end) {
            return String(plural.dropLast(2))
        }
        let isPlural = plural.hasSuffix("s") && !plural.hasSuffix("ss") && !plural.hasSuffix("us") && plural.count > 4
        return isPlural ? String(plural.dropLast()) : plural
    }
}

extension CollectionSchema {
    fileprivate func swiftModel(_ type: String) -> String {
        var lines = ["/// \(Self.sentence(scope))"]
        lines.append("struct \(type): SyncModel, Hashable {")
        lines.append("    static let collection = \"\(name)\"")
        // A derived id has no default.
        if let key = identity?.keyField {
            lines.append("    var id: String  // the key, field \(key)")
        } else {
            lines.append(identity == nil ? "    var id = UUID()" : "    var id: UUID")
        }
        // Required fields come first, so that the initializer begins with them.
        for field in fields where field.isRequired && field.name != identity?.keyField { lines += field.swiftProperty }
        for field in fields where !field.isRequired { lines += field.swiftProperty }
        let known = [("serverTime", "Date?"), ("author", "String?"), ("syncState", "RecordState?")].filter {
            field($0.0) == nil
        }
        lines.append("")
        lines.append("    // Filled by the store.")
        lines += known.map { "    var \($0.0): \($0.1)" }
        return (lines + ["}"]).joined(separator: "\n")
    }

    private static func sentence(_ scope: ScopeRule) -> String {
        switch scope {
        case .ownRecord: "Each of them is a scope: `ScopeID(record: id)`."
        case .field(let field): "Belongs to the scope that `\(field)` names."
        case .shared(let scope): "Everybody in the workspace sees it, in the scope `\(scope)`."
        }
    }
}

extension FieldSchema {
    /// Words that are names only in backquotes.
    private static let keywords: Set<String> = [
        "Any", "Protocol", "Type", "as", "associatedtype", "break", "case", "catch", "class", "continue", "default",
        "defer", "deinit", "do",
        "else",
        "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in",
        "init",
        "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
        "repeat",
        "rethrows", "return", "self", "Self", "static", "struct", "subscript", "super", "switch", "throw", "throws",
        "true",
        "try", "typealias", "var", "where", "while",
    ]

    fileprivate var swiftProperty: [String] {
        let property = Self.keywords.contains(name) ? "`\(name)`" : name
        // A `Hashable` type has a property of that name.
        guard name != "hashValue" else {
            return ["    // var hashValue: …  under another name, see `SyncModel.fieldNames`"]
        }
        guard let type = swiftType else {
            return ["    // var \(property): …  a Codable type of the app's, for a field of type \(self.type.rawValue)"]
        }
        let isFixed = merge == .immutable && isRequired
        let initial = swiftDefault.map { " = \($0)" } ?? (isRequired ? "" : "?")
        let line = "    \(isFixed ? "let" : "var") \(property): \(type)\(initial)"
        return [comment.map { "\(line)  // \($0)" } ?? line]
    }

    /// The value that an absent field is read as, and that a new record begins with.
    private var swiftDefault: String? {
        switch defaultValue {
        case .boolean(let flag): "\(flag)"
        case .integer(let number) where type == .timestamp: "Date(timeIntervalSince1970: \(Double(number) / 1_000))"
        case .integer(let number): "\(number)"
        case .double(let number): "\(number)"
        case .string(let text): text.debugDescription
        case .null, .array, .object, nil: nil
        }
    }

    /// `nil` for types that only the app knows.
    private var swiftType: String? {
        switch type {
        case .string: "String"
        case .integer: "Int"
        case .double: "Double"
        case .boolean: "Bool"
        case .timestamp: "Date"
        case .reference: "UUID"
        case .set: "Set<String>"
        case .blob: "BlobDigest"
        case .map, .json: nil
        }
    }

    private var comment: String? {
        if merge == .server { return "written by services" }
        if let allowed = constraint?.value.allowed, !allowed.isEmpty {
            return "one of \(allowed.map(\.json).joined(separator: ", "))"
        }
        if let target { return "of \(target)" }
        if merge == .immutable, !isRequired { return "never changes once the record exists" }
        return nil
    }
}
