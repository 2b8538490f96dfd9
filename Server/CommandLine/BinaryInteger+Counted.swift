extension BinaryInteger {
    /// The number with its noun: `1 message`, `2 messages`.
    package func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
