import TidemarkModel

/// The body of `POST /v1/schema`: the schema that an operator wants in force.
package struct SchemaCall: Hashable, Sendable {
    /// The document's text; `nil` keeps the one in force.
    package var document: String?
    /// The versions of apps to serve; `nil` keeps the requirement in force, and an empty text serves every app.
    package var requirement: String?
    /// True when the change may remove something that old apps use.
    package var isAccepted = false
    /// True when the call only reports what would change.
    package var isDryRun = false
    /// The operator and the reason.
    package var note = ""

    package init(
        document: String? = nil, requirement: String? = nil, isAccepted: Bool = false, isDryRun: Bool = false,
        note: String = ""
    ) {
        self.document = document
        self.requirement = requirement
        self.isAccepted = isAccepted
        self.isDryRun = isDryRun
        self.note = note
    }

    /// Reads the body. An unknown member is refused: it might ask for something that is not done.
    package init(decoding bytes: [UInt8]) throws(SchemaRefusal) {
        var call = SchemaCall()
        do {
            try JSONReader.read(bytes) { reader in
                try reader.object { reader, key in
                    switch key {
                    case "document": call.document = try reader.string()
                    case "min_app": call.requirement = try reader.string()
                    case "accept": call.isAccepted = try reader.boolean()
                    case "dry_run": call.isDryRun = try reader.boolean()
                    case "note": call.note = try reader.string()
                    default: throw reader.failure("unknown member \"\(key.excerpt())\"")
                    }
                }
            }
        } catch {
            throw SchemaRefusal(.invalid, "schema: \(error)")
        }
        self = call
    }

    package func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 256 + (document?.utf8.count ?? 0))
        writer.string("{\"note\":", note)
        for (name, text) in [("document", document), ("min_app", requirement)] {
            guard let text else { continue }
            writer.member(name)
            writer.string(text)
        }
        if isAccepted { writer.literal(",\"accept\":true") }
        if isDryRun { writer.literal(",\"dry_run\":true") }
        return writer.ended()
    }
}

/// The reason why a schema is not put in force.
package struct SchemaRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The codes of the call's errors.
    package enum Code: String, Hashable, Sendable {
        case invalid
        /// The schema removes something that old apps use, and the call does not accept that.
        case narrows
        /// Another schema came in force meanwhile.
        case moved
    }

    package let code: Code
    package let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
