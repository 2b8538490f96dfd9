import Foundation
import Tidemark
import TidemarkChat

/// The names of a conversation's members as the terminal shows them: each one is one member's alone. Everybody chooses their
/// name, so one that looks like another's, or like a word of the terminal's, is shown with the member's id.
struct MemberNames: Sendable {
    private let account: UserID
    private let names: [UserID: String]
    private let shown: [UserID: String]

    /// - Parameter names: as the members chose them.
    init(_ names: [UserID: String], account: UserID) {
        self.account = account
        self.names = names
        var users: [String: Set<UserID>] = [:]
        // What is cut or escaped is compared as it is shown.
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

    /// The name of a sender: `me` for the user; for somebody who is no member, never the bare name that a message claims.
    ///
    /// - Parameter claimed: the name in the message.
    func sender(_ user: UserID, claimed: String?) -> String {
        if user == account { return Self.own }
        return shown[user] ?? Self.label(user, claimed ?? user.text, isAlone: false)
    }

    /// The name of a member.
    func name(_ user: UserID) -> String { shown[user] ?? Self.label(user, user.text, isAlone: true) }

    /// The word for the user.
    private static let own = "me"

    private static func label(_ user: UserID, _ name: String, isAlone: Bool) -> String {
        let (id, chosen) = (safe(user.text), safe(name))
        // A name that shows nothing is none.
        let name = folded(chosen).isEmpty ? id : chosen
        if name == id, folded(name) != own { return id }
        // A name in the form of name and id looks like another member's.
        let isPlain = isAlone && folded(name) != own && !folded(name).contains("(")
        return isPlain ? name : "\(name) (\(id))"
    }

    /// On one line, without what ends a name in a line of the chat, and no longer than a name is.
    private static func safe(_ name: String) -> String {
        let line = SafeText.line(name).split(separator: " ").joined(separator: " ")
        return String(line.prefix(charactersMax)).replacing(":", with: SafeText.escape(":"))
    }

    private static let charactersMax = 128

    /// The name without anything that a reader does not tell apart: case, width, accents of compatibility, spaces, and what does not
    /// print.
    private static func folded(_ name: String) -> String {
        let kept = name.decomposedStringWithCompatibilityMapping.unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .spaceSeparator, .lineSeparator, .paragraphSeparator: false
            // Fillers and selectors; the blank pattern of Braille is no space to Unicode.
            default: !scalar.properties.isDefaultIgnorableCodePoint && scalar != "\u{2800}"
            }
        }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: kept)
        return String(text).lowercased()
    }
}
