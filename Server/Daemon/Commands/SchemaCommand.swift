import ArgumentParser
import Foundation
import TidemarkChatSchema
import TidemarkCommandLine
import TidemarkIdentity
import TidemarkModel
import TidemarkOperations

/// `tidemark schema`: checks, compares and applies schema documents.
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Work with schema documents.",
        subcommands: [Check.self, Diff.self, Swift.self, Apply.self, Show.self, Sample.self])

    /// `tidemark schema check`: reads a schema as the server would.
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Check a schema and print its summary, or its faults and where they are.",
            discussion: """
                The document's keys are described in Shared/SCHEMA.md.

                With --against, the changes between two versions are printed instead. Each one says what it means for \
                apps that were made with OLD and use a server with FILE. The command fails if something they have is \
                removed or narrowed, until you give --accept.

                EXAMPLES
                  tidemark schema check app.schema.json
                  tidemark schema check app.schema.json --against released.schema.json
                  tidemark schema check app.schema.json && \\
                      tidemark serve --dev --schema app.schema.json
                """)

        @Argument(help: "The schema document, JSON.")
        var file: String

        @Option(help: ArgumentHelp("The document that apps in use were made with.", valueName: "old"))
        var against: String?

        @Flag(help: "With --against: succeed even if something is removed or narrowed.")
        var accept = false

        func validate() throws {
            if accept, against == nil { throw ValidationError("--accept needs --against OLD.") }
        }

        func run() throws {
            let schema = try Self.schema(at: file)
            guard let against else { return print(schema.summary) }
            let comparison = SchemaComparison(from: try Self.schema(at: against), to: schema)
            print(comparison.text)
            guard comparison.costsOldApps, !accept else { return }
            throw CommandFailure(
                "\(file) takes something from apps that were made with \(against), as said above; give --accept to"
                    + " allow it")
        }

        static func schema(at file: String) throws -> Schema {
            let bytes: Data
            do {
                bytes = try Data(contentsOf: URL(fileURLWithPath: file))
            } catch {
                throw CommandFailure("cannot read \(file)")
            }
            do throws(SchemaError) {
                return try Schema(json: Array(bytes).withoutMark)
            } catch {
                throw CommandFailure("\(file): \(error)")
            }
        }
    }

    /// `tidemark schema diff`: the changes between two schemas, as apps in use see them.
    struct Diff: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "diff",
            abstract: "Print the changes between two schemas, and their effect on apps made with the older one.",
            discussion: """
                'tidemark schema check NEW --against OLD' prints the same, and fails if something is removed.

                EXAMPLES
                  tidemark schema diff released.schema.json app.schema.json
                """)

        @Argument(help: "The document that apps in use were made with.")
        var old: String

        @Argument(help: "The document that replaces it.")
        var new: String

        func run() throws {
            print(SchemaComparison(from: try Check.schema(at: old), to: try Check.schema(at: new)).text)
        }
    }

    /// `tidemark schema swift`: generates an app's models.
    struct Swift: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "swift",
            abstract: "Print a Swift model for each collection of a schema.",
            discussion: """
                The output compiles, with a property for each field. Fields of type map and json are in a comment: \
                their types are the app's.

                EXAMPLES
                  tidemark schema swift app.schema.json > Models.swift
                """)

        @Argument(help: "The schema document, JSON.")
        var file: String

        func run() throws { print(try Check.schema(at: file).swiftModels, terminator: "") }
    }

    /// `tidemark schema sample`: prints a document to begin with.
    struct Sample: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sample",
            abstract: "Print the schema that 'serve --dev' uses by default: a chat.",
            discussion: """
                EXAMPLES
                  tidemark schema sample > app.schema.json
                """)

        func run() { print(String(decoding: ChatDocument.json, as: UTF8.self), terminator: "") }
    }
}
