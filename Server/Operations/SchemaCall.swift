import TidemarkModel

/// The body of `POST /v1/schema`: what an operator wants in force.
package struct SchemaCall: Hashable, Sendable {
    /// The document's text; `nil` leaves the one that is in force.
    package var document: String?
    /// Which apps are served; `nil` leaves it as it is, and an empty text serves every app.
    package var requirement: String?
    /// Something may be taken from old apps.
    package var isAccepted = false
    /// Says what would change, and changes nothing.
    package var isDryRun = false
    /// Who does it and why.
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

    /// Reads the body. A member that is not known is refused: it would say something about what is to be done.
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
        writer.literal("{\"note\":")
        writer.string(note)
        for (name, text) in [("document", document), ("min_app", requirement)] {
            guard let text else { continue }
            writer.byte(UInt8(ascii: ","))
            writer.string(name)
            writer.byte(UInt8(ascii: ":"))
            writer.string(text)
        }
        if isAccepted { writer.literal(",\"accept\":true") }
        if isDryRun { writer.literal(",\"dry_run\":true") }
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }
}

/// Why a schema is not put in force.
package struct SchemaRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The codes of the call.
    package enum Code: String, Hashable, Sendable {
        case invalid
        /// Something is taken from old apps, and that was not accepted.
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
