extension String {
    /// A foreign text made safe for a terminal: characters that control one (escape sequences, line breaks, the
    /// direction of text) are shown as `\u{1b}`.
    package var withoutSteering: String {
        var plain = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                plain.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
            default: plain.append(scalar)
            }
        }
        return String(plain)
    }
}
