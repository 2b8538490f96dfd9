import TidemarkModel

/// An outcome as the stores keep it: `[number, transaction, seq, time]`, with code and message behind a refused one's.
extension ResultRow {
    func write(to writer: inout JSONWriter) {
        writer.byte(UInt8(ascii: "["))
        writer.integer(number)
        writer.byte(UInt8(ascii: ","))
        writer.id(transaction)
        writer.byte(UInt8(ascii: ","))
        writer.integer(seq)
        writer.byte(UInt8(ascii: ","))
        writer.integer(time)
        if let rejection {
            writer.byte(UInt8(ascii: ","))
            writer.string(rejection.code.rawValue)
            writer.byte(UInt8(ascii: ","))
            writer.string(rejection.message)
        }
        writer.byte(UInt8(ascii: "]"))
    }

    static func read(_ reader: inout JSONReader, client: ClientID) throws -> ResultRow {
        var row = ResultRow(
            client: client, number: 0, transaction: UniqueID(high: 0, low: 0), seq: 0, time: 0, rejection: nil)
        var code: RejectionCode?
        var place = 0
        try reader.array { reader in
            switch place {
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
            place += 1
        }
        guard place == 4 || place == 6 else { throw reader.failure("an outcome has four or six elements") }
        return row
    }
}
