import Foundation

/// A password as the user typed it. Never shows itself in a description or a dump.
///
/// It is hashed in one form, however a keyboard encodes it: as RFC 8265 prescribes for passwords (OpaqueString), in
/// Unicode's form C, with every kind of space as the plain one, and with its case kept. Imported hashes are of the
/// bytes as they were typed.
package struct Password: Sendable, CustomStringConvertible, CustomReflectable {
    /// The least length of a password that is chosen here, in Unicode scalars.
    package static let lengthMin = 8
    /// The greatest length in UTF-8.
    package static let bytesMax = 1_024

    /// The bytes as they were typed.
    let given: [UInt8]
    /// The bytes in the one form.
    let normal: [UInt8]
    private let fault: Fault?

    /// The reason why a text is not a valid password.
    package enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        case empty, tooLong, tooShort, control

        /// A message for the user who chose it.
        package var description: String {
            switch self {
            case .empty: "password: missing"
            case .tooLong: "password: more than \(Password.bytesMax) bytes"
            case .tooShort: "password: at least \(Password.lengthMin) characters"
            case .control: "password: control characters are not allowed"
            }
        }
    }

    /// Makes a password to be checked: it may be shorter than new ones must be.
    package init(_ text: String) throws(Fault) {
        guard !text.isEmpty else { throw .empty }
        guard text.utf8.count <= Self.bytesMax else { throw .tooLong }
        var spaced = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            spaced.append(scalar.properties.generalCategory == .spaceSeparator ? " " : scalar)
        }
        let normalized = String(spaced).precomposedStringWithCanonicalMapping
        guard normalized.utf8.count <= Self.bytesMax else { throw .tooLong }
        given = Array(text.utf8)
        normal = Array(normalized.utf8)
        if normalized.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            fault = .control
        } else {
            fault = normalized.unicodeScalars.count < Self.lengthMin ? .tooShort : nil
        }
    }

    /// Makes a password that is chosen now.
    package init(chosen text: String) throws(Fault) {
        try self.init(text)
        if let fault { throw fault }
    }

    /// Fixed text.
    package var description: String { "Password(redacted)" }

    /// Without children, so that `dump` shows nothing either.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The name that a user logs in with, such as a mail address.
package struct LoginName: Hashable, Sendable {
    /// The greatest length in UTF-8, as typed and as kept.
    package static let bytesMax = 256

    /// The name in one form, however it is typed: compatible characters unified (NFKC), lower case, no space around.
    package let text: String

    /// Makes a login name; `nil` if it is empty, too long, or has white space or control characters in it.
    package init?(_ typed: String) {
        guard typed.utf8.count <= Self.bytesMax else { return nil }
        let small = typed.precomposedStringWithCompatibilityMapping.lowercased()
        let text = small.precomposedStringWithCompatibilityMapping.trimmingCharacters(in: .whitespacesAndNewlines)
        guard (1...Self.bytesMax).contains(text.utf8.count) else { return nil }
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .spaceSeparator, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned:
                false
            default: true
            }
        }
        guard isPlain else { return nil }
        self.text = text
    }
}
