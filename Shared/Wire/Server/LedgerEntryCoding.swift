import TidemarkModel

/// One ledger entry as it is sent: `[seq, field, rule, old, new, oldAuthor, author, client, app, time]`; absent and
/// unknown values are `null`.
enum LedgerEntryCoding {
    static func write(_ writer: inout JSONWriter, _ entry: LedgerEntry) {
        writer.byte(UInt8(ascii: "["))
        writer.integer(entry.seq)
        writer.byte(UInt8(ascii: ","))
        writer.string(entry.value.field)
        writer.byte(UInt8(ascii: ","))
        writer.string(entry.value.rule.rawValue)
        for value in [entry.value.old, entry.value.new] {
            writer.byte(UInt8(ascii: ","))
            writer.value(value ?? .null)
        }
        writer.byte(UInt8(ascii: ","))
        write(entry.oldAuthor?.text, to: &writer)
        writer.byte(UInt8(ascii: ","))
        writer.string(entry.author.text)
        writer.byte(UInt8(ascii: ","))
        writer.id(entry.client)
        writer.byte(UInt8(ascii: ","))
        write(entry.app, to: &writer)
        writer.byte(UInt8(ascii: ","))
        writer.integer(entry.time)
        writer.byte(UInt8(ascii: "]"))
    }

    /// Reads one entry. An unknown rule of a newer server becomes `lww`, since the entry itself is what matters.
    static func read(_ reader: inout JSONReader, key: RecordKey, scope: ScopeID) throws -> LedgerEntry {
        var (field, rule) = ("", MergeRule.lww)
        var (old, new): (FieldValue?, FieldValue?)
        var entry = LedgerEntry(
            key: key, scope: scope, seq: 0, value: OverwrittenValue(field: "", rule: .lww, old: nil, new: nil),
            oldAuthor: nil, author: UserID(""), client: UniqueID(high: 0, low: 0), app: nil, time: 0)
        var index = 0
        try reader.array { reader in
            switch index {
            case 0: entry.seq = try MessageReader.count(&reader)
            case 1: field = try reader.string()
            case 2: rule = MergeRule(rawValue: try reader.string()) ?? .lww
            case 3: if try !reader.takeNull() { old = try reader.value() }
            case 4: if try !reader.takeNull() { new = try reader.value() }
            case 5: if try !reader.takeNull() { entry.oldAuthor = UserID(try reader.string()) }
            case 6: entry.author = UserID(try reader.string())
            case 7: entry.client = try MessageReader.id(&reader)
            case 8: if try !reader.takeNull() { entry.app = try reader.string() }
            case 9: entry.time = try MessageReader.time(&reader)
            default: try reader.skip()
            }
            index += 1
        }
        guard index >= 10 else { throw reader.failure("a ledger entry has ten elements") }
        entry.value = OverwrittenValue(field: field, rule: rule, old: old, new: new)
        return entry
    }

    private static func write(_ text: String?, to writer: inout JSONWriter) {
        if let text { writer.string(text) } else { writer.literal("null") }
    }
}
