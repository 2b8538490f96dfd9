import TidemarkModel

/// An outcome as a store reads it. It wrote the bytes itself: what is not exactly an outcome is damage.
extension TransactionOutcome {
    static func read(_ reader: inout JSONReader) throws -> TransactionOutcome {
        var row = TransactionOutcome(number: 0, transaction: UniqueID(high: 0, low: 0), seq: 0, time: 0, rejection: nil)
        var code: RejectionCode?
        var index = 0
        try reader.array { reader in
            switch index {
            case 0: row.number = try reader.integer()
            case 1:
                guard let id = UniqueID(try reader.string()) else { throw reader.failure("not a UUID") }
                row.transaction = id
            case 2: row.seq = try reader.integer()
            case 3: row.time = try reader.integer()
            case 4: code = RejectionCode(rawValue: try reader.string()) ?? .internalRejected
            case 5: row.rejection = Rejection(code ?? .internalRejected, try reader.string())
            default: throw reader.failure("an outcome has four or six elements")
            }
            index += 1
        }
        guard index == 4 || index == 6 else { throw reader.failure("an outcome has four or six elements") }
        return row
    }
}
