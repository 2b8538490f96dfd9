package import TidemarkModel

/// How far the client's own transactions are settled, as of the frame that carries it.
package struct Settled: Hashable, Sendable {
    /// Every transaction up to this number is settled.
    package var through: Int64
    package var outcomes: [TransactionOutcome]

    package init(through: Int64, outcomes: [TransactionOutcome]) {
        self.through = through
        self.outcomes = outcomes
    }

    /// This and what was settled after it.
    package func followed(by next: Settled?) -> Settled {
        guard let next else { return self }
        return Settled(
            through: max(through, next.through), outcomes: outcomes + next.outcomes.filter { $0.number > through })
    }

    /// Appends the object.
    package func write(to writer: inout JSONWriter) {
        writer.literal("{\"n\":")
        writer.integer(through)
        writer.literal(",\"res\":")
        writer.array(outcomes) { $1.write(to: &$0) }
        writer.byte(UInt8(ascii: "}"))
    }

    static func read(_ reader: inout JSONReader) throws -> Settled {
        var settled = Settled(through: 0, outcomes: [])
        try reader.object { reader, key in
            switch key {
            case "n": settled.through = try MessageReader.count(&reader)
            case "res": try reader.array { settled.outcomes.append(try outcome(&$0)) }
            default: try reader.skip()
            }
        }
        return settled
    }

    /// Reads one outcome. A newer server may write more behind it.
    static func outcome(_ reader: inout JSONReader) throws -> TransactionOutcome {
        var outcome = TransactionOutcome(
            number: 0, transaction: UniqueID(high: 0, low: 0), seq: 0, time: 0, rejection: nil)
        var code: RejectionCode?
        var index = 0
        try reader.array { reader in
            switch index {
            case 0: outcome.number = try MessageReader.count(&reader)
            case 1: outcome.transaction = try MessageReader.id(&reader)
            case 2: outcome.seq = try MessageReader.count(&reader)
            case 3: outcome.time = try reader.integer()
            case 4: code = RejectionCode(rawValue: try reader.string()) ?? .internalRejected
            case 5: outcome.rejection = Rejection(code ?? .internalRejected, try reader.string())
            default: try reader.skip()
            }
            index += 1
        }
        guard index >= 4, index != 5 else { throw reader.failure("an outcome has four or six elements") }
        return outcome
    }
}
