/// A short digest of a field's value, with which a writer says what it saw before it wrote.
///
/// Two values of one field have the same mark if they have the same canonical JSON; different ones share a mark once in
/// 2^53. 0 is the mark of an absent value. Marks protect honest writers from each other; they do not stop a forger.
public struct ValueMark: Hashable, Sendable {
    /// The mark as it is sent: 0 to 2^53 - 1.
    package let number: Int64

    /// The mark of a field without a value.
    package static let absent = ValueMark(number: 0)

    /// Creates a mark from the number on the wire.
    package init(number: Int64) { self.number = number }

    /// Computes the mark of a value; `nil` and `null` are absent.
    package init(_ value: FieldValue?, of field: FieldSchema) {
        guard let value, value != .null else {
            self = .absent
            return
        }
        var writer = JSONWriter()
        writer.value(field.type.canonical(value) ?? value)
        // FNV-1a, 64 bits; the upper bits are folded in, so that all 64 affect the 53 that remain.
        var sum: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in writer.bytes { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let folded = (sum ^ (sum >> 53)) & 0x1f_ffff_ffff_ffff
        number = Int64(folded == 0 ? 1 : folded)
    }
}
