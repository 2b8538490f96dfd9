import Foundation

@testable import TidemarkTerminal

/// A database of a test that can be saved, and restored while no server runs on it.
struct KeptDatabase: Sendable {
    enum Kind: String, Sendable, CustomStringConvertible {
        case sqlite = "SQLite"
        case postgres = "PostgreSQL"

        /// The available kinds; PostgreSQL if the tests may use one.
        static var given: [Kind] { TestPostgres.uri == nil ? [.sqlite] : [.sqlite, .postgres] }

        var description: String { rawValue }
    }

    /// The location as the server's option takes it.
    let location: String
    private let kind: Kind
    /// The folder of the files, or the name of the database.
    private let name: String
    private var kept: String { kind == .sqlite ? name + "/kept" : name + "_kept" }

    init(_ kind: Kind, in folder: String) async throws {
        self.kind = kind
        switch kind {
        case .sqlite:
            name = folder
            location = "sqlite:\(folder)/server.sqlite"
        case .postgres:
            name = "kept_" + UUID().uuidString.lowercased().filter { $0 != "-" }
            location = try TestPostgres.uri(of: name)
            try await TestPostgres.run("CREATE DATABASE \(name)")
        }
    }

    /// Saves the contents.
    func keep() async throws {
        switch kind {
        case .sqlite: try copy(from: name, to: kept)
        case .postgres: try await TestPostgres.run("CREATE DATABASE \(kept) TEMPLATE \(name)")
        }
    }

    /// Restores exactly the saved contents.
    func putBack() async throws {
        switch kind {
        case .sqlite: try copy(from: kept, to: name)
        case .postgres:
            try await TestPostgres.run("DROP DATABASE \(name) WITH (FORCE)")
            try await TestPostgres.run("CREATE DATABASE \(name) TEMPLATE \(kept)")
        }
    }

    func drop() async throws {
        guard kind == .postgres else { return }
        for name in [name, kept] { try await TestPostgres.run("DROP DATABASE IF EXISTS \(name) WITH (FORCE)") }
    }

    private func copy(from source: String, to target: String) throws {
        let files = FileManager.default
        try files.createDirectory(atPath: target, withIntermediateDirectories: true)
        func database(_ folder: String) throws -> [String] {
            try files.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("server.") }
        }
        for name in try database(target) { try files.removeItem(atPath: "\(target)/\(name)") }
        for name in try database(source) {
            try files.copyItem(atPath: "\(source)/\(name)", toPath: "\(target)/\(name)")
        }
    }
}
