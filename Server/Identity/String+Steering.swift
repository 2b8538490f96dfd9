extension String {
    /// The same for a terminal, where somebody else wrote it: what steers one (escape sequences, line breaks, the direction of
    /// text) is shown as `\u{1b}`.
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
