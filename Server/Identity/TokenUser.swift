import Foundation

/// Whose token a text says to be, for messages to people: nothing is verified, so nothing may depend on it.
package enum TokenUser {
    /// `nil` for what is no token of ours.
    package static func claimed(by token: String) -> String? {
        do {
            let compact = try CompactToken(token)
            return try JSONDecoder().decode(Named.self, from: Data(compact.claims)).sub
        } catch {
            // Another kind of token, or none: the server says what is wrong with it.
            return nil
        }
    }

    private struct Named: Decodable {
        let sub: String
    }
}
