import Foundation
import Tidemark
import TidemarkChat

/// The names of a conversation's members as the terminal shows them; each one belongs to one member alone. All users
/// choose their names. A name that looks like another's, or like a word of the terminal's, is shown with the member's
/// id.
struct MemberNames: Sendable {
    private let account: UserID
    private let names: [UserID: String]
    private let shown: [UserID: String]

    /// - Parameter names: the names that the members chose.
    init(_ names: [UserID: String], account: UserID) {
        self.account = account
        self.names = names
        var users: [String: Set<UserID>] = [:]
        // Cut or escaped names are compared as they are shown.
        for (user, name) in names {
            users[Self.folded(Self.safe(name)), default: []].insert(user)
            users[Self.folded(Self.safe(user.text)), default: []].insert(user)
        }
        shown = names.reduce(into: [:]) { shown, member in
            let (user, name) = member
            let isAlone = users[Self.folded(Self.safe(name))] == [user]
            shown[user] = Self.label(user, name, isAlone: isAlone)
        }
    }

    /// Returns the name of a sender: `me` for the user; for a sender who is not a member, never only the name that the
    /// message claims.
    ///
    /// - Parameter claimed: the name in the message.
    func sender(_ user: UserID, claimed: String?) -> String {
        if user == account { return Self.own }
        return shown[user] ?? Self.label(user, claimed ?? user.text, isAlone: false)
    }

    /// Returns the name of a member.
    func name(_ user: UserID) -> String { shown[user] ?? Self.label(user, user.text, isAlone: true) }

    /// The name for the user.
    private static let own = "me"

    private static func label(_ user: UserID, _ name: String, isAlone: Bool) -> String {
        let (id, chosen) = (safe(user.text), safe(name))
        // A name without visible characters is treated as none.
        let name = folded(chosen).isEmpty ? id : chosen
        if name == id, folded(name) != own { return id }
        // A name that looks like "name (id)" could be taken for another member's.
        let isPlain = isAlone && folded(name) != own && !folded(name).contains("(")
        return isPlain ? name : "\(name) (\(id))"
    }

    /// Returns the name on one line, without the character that ends a name in a line of the chat, and of limited
    /// length.
    private static func safe(_ name: String) -> String {
        let line = SafeText.line(name).split(separator: " ").joined(separator: " ")
        return String(line.prefix(charactersMax)).replacing(":", with: SafeText.escape(":"))
    }

    private static let charactersMax = 128

    /// Returns the name without differences that a reader cannot see: case, width, compatibility forms, spaces, and
    /// invisible characters.
    private static func folded(_ name: String) -> String {
        let kept = name.decomposedStringWithCompatibilityMapping.unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .spaceSeparator, .lineSeparator, .paragraphSeparator: false
            // Fillers and selectors; Unicode does not treat the blank pattern of Braille as a space.
            default: !scalar.properties.isDefaultIgnorableCodePoint && scalar != "\u{2800}"
            }
        }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: kept)
        return String(text).lowercased()
    }
}
