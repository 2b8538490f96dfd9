import ArgumentParser
import Foundation
import TidemarkModel

/// `tidemark schema`: what concerns schema documents.
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Work with schema documents.", subcommands: [Check.self])

    /// `tidemark schema check`: reads a schema as the server would.
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Check a schema and print what it says, or what is wrong with it and where.",
            discussion: """
                The document's keys are described in Shared/SCHEMA.md.

                EXAMPLES
                  tidemark schema check app.schema.json
                  tidemark schema check app.schema.json && tidemark serve --schema app.schema.json
                """)

        @Argument(help: "The schema document, JSON.")
        var file: String

        func run() throws {
            let bytes: Data
            do {
                bytes = try Data(contentsOf: URL(fileURLWithPath: file))
            } catch {
                throw CommandFailure("cannot read \(file)")
            }
            let schema: Schema
            do throws(SchemaError) {
                schema = try Schema(json: Array(bytes))
            } catch {
                throw CommandFailure("\(file): \(error)")
            }
            print(schema.summary)
        }
    }
}

extension Schema {
    /// The schema in words: a block a collection, a line a field.
    var summary: String {
        (["\(name), version \(version): \(collections.count) collections"] + collections.map(\.summary))
            .joined(separator: "\n\n")
    }
}

extension CollectionSchema {
    fileprivate var summary: String {
        let place =
            switch scope {
            case .ownRecord: "each record is a scope"
            case .field(let field): "scope in \(field)"
            case .shared(let scope): "shared scope \(scope)"
            }
        var lines = ["\(name)  (\(place))"]
        if let was { lines.append("  stored    as \(was)") }
        if let memberField { lines.append("  members   \(memberField)") }
        if let adminField { lines.append("  admins    \(adminField)") }
        lines.append("  create    \(Self.names(create))")
        lines.append("  change    \(Self.names(change))")
        lines.append("  delete    \(Self.names(delete))")
        let width = fields.map(\.name.count).max() ?? 0
        for field in fields {
            lines.append(
                "  - \(field.name)\(String(repeating: " ", count: width - field.name.count))  \(field.summary)")
        }
        return lines.joined(separator: "\n")
    }

    fileprivate static func names(_ accessors: Set<Accessor>) -> String {
        accessors.isEmpty ? "server" : accessors.map(\.rawValue).sorted().joined(separator: ", ")
    }
}

extension FieldSchema {
    fileprivate var summary: String {
        var words = [type.rawValue, merge.rawValue]
        if isRequired { words.append("required") }
        if isIndexed { words.append("indexed") }
        if isSearchable { words.append("searchable") }
        if let target { words.append("→ \(target)") }
        if let was { words.append("was \(was)") }
        if let change { words.append("changed by \(CollectionSchema.names(change))") }
        words.append("max \(sizeMax)")
        return words.joined(separator: " ")
    }
}
