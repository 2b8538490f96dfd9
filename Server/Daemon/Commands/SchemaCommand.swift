import ArgumentParser
import Foundation
import TidemarkChatSchema
import TidemarkCommandLine
import TidemarkIdentity
import TidemarkModel
import TidemarkOperations

/// `tidemark schema`: what concerns schema documents.
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Work with schema documents.",
        subcommands: [Check.self, Diff.self, Swift.self, Apply.self, Show.self, Sample.self])

    /// `tidemark schema check`: reads a schema as the server would.
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Check a schema and print what it says, or what is wrong with it and where.",
            discussion: """
                The document's keys are described in Shared/SCHEMA.md.

                With --against, what changes between two versions is printed instead, each change with what apps meet that \
                were made with OLD and use a server with FILE. The command fails if something they have is taken away or \
                narrowed, until you say --accept.

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

        @Flag(help: "With --against: succeed although something is taken away or narrowed.")
        var accept = false

        func validate() throws {
            if accept, against == nil { throw ValidationError("--accept goes with --against OLD.") }
        }

        func run() throws {
            let schema = try Self.schema(at: file)
            guard let against else { return print(schema.summary) }
            let comparison = SchemaComparison(from: try Self.schema(at: against), to: schema)
            print(comparison.text)
            guard comparison.costsOldApps, !accept else { return }
            throw CommandFailure(
                "\(file) takes something from apps that were made with \(against), as said above; if that is meant, say"
                    + " --accept")
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

    /// `tidemark schema diff`: what apps in use meet.
    struct Diff: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "diff",
            abstract: "Print what changes between two schemas, and what apps meet that were made with the older one.",
            discussion: """
                'tidemark schema check NEW --against OLD' says the same, and fails where something is taken away.

                EXAMPLES
                  tidemark schema diff released.schema.json app.schema.json
                """)

        @Argument(help: "The document that apps in use were made with.")
        var old: String

        @Argument(help: "The document that is to follow it.")
        var new: String

        func run() throws {
            print(SchemaComparison(from: try Check.schema(at: old), to: try Check.schema(at: new)).text)
        }
    }

    /// `tidemark schema swift`: an app's models.
    struct Swift: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "swift",
            abstract: "Print a Swift model for each collection of a schema.",
            discussion: """
                What is printed compiles, with a property for each field. Fields of type map and json stand in a \
                comment: their types are the app's.

                EXAMPLES
                  tidemark schema swift app.schema.json > Models.swift
                """)

        @Argument(help: "The schema document, JSON.")
        var file: String

        func run() throws { print(try Check.schema(at: file).swiftModels, terminator: "") }
    }

    /// `tidemark schema sample`: a document to begin with.
    struct Sample: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sample",
            abstract: "Print the schema that 'serve --dev' takes when it is given none: a chat.",
            discussion: """
                EXAMPLES
                  tidemark schema sample > app.schema.json
                """)

        func run() { print(String(decoding: ChatDocument.json, as: UTF8.self), terminator: "") }
    }
}
