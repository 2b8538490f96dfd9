import Foundation

/// The PostgreSQL that tests may use.
enum TestPostgres {
    /// The keyword form that the scripts export, as the URI that commands take; `nil` where none is named.
    static var uri: String? { ProcessInfo.processInfo.environment["TIDEMARK_TEST_POSTGRES"].map(uri) }

    private static func uri(_ connection: String) -> String {
        guard !connection.contains("://") else { return connection }
        let parts = Dictionary(
            connection.split(separator: " ").compactMap { pair in
                let words = pair.split(separator: "=", maxSplits: 1)
                return words.count == 2 ? (String(words[0]), String(words[1])) : nil
            }, uniquingKeysWith: { first, _ in first })
        return "postgres://\(parts["user"] ?? "")@/\(parts["dbname"] ?? "")"
            + "?host=\(parts["host"] ?? "")&port=\(parts["port"] ?? "5432")"
    }
}
