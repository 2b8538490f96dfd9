import Foundation
import Tidemark

/// The schema of the app's server, from the app's resources.
enum BoardSchema {
    /// Reads the schema. An app package has its resources in a bundle of its own, inside the app's.
    static func read() throws -> Schema {
        let inside = Bundle.main.paths(forResourcesOfType: "bundle", inDirectory: nil)
        for bundle in [Bundle.main] + inside.compactMap({ Bundle(path: $0) }) {
            guard let file = bundle.url(forResource: "board.schema", withExtension: "json") else { continue }
            return try Schema(json: Array(try Data(contentsOf: file)))
        }
        throw CocoaError(.fileNoSuchFile)
    }
}
