package import TidemarkModel

/// The answer to `POST /v1/push` once every transaction of it is settled.
package struct PushAnswer: Hashable, Sendable {
    /// The client's last settled transaction.
    package var settledThrough: Int64
    /// The outcomes of the pushed transactions, in their order.
    package var outcomes: [TransactionOutcome]

    package init(settledThrough: Int64, outcomes: [TransactionOutcome]) {
        self.settledThrough = settledThrough
        self.outcomes = outcomes
    }

    package func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 48 + outcomes.count * 96)
        writer.integer("{\"lmid\":", settledThrough)
        writer.array(",\"res\":", outcomes) { $1.write(to: &$0) }
        return writer.ended()
    }

    /// Reads an answer.
    package static func decode(_ bytes: [UInt8]) throws(WireError) -> PushAnswer {
        var answer = PushAnswer(settledThrough: 0, outcomes: [])
        try MessageReader.members(of: bytes, "push answer") { reader, key in
            switch key {
            case "lmid": answer.settledThrough = try MessageReader.count(&reader)
            case "res": try reader.array { answer.outcomes.append(try Settled.outcome(&$0)) }
            default: try reader.skip()
            }
        }
        return answer
    }
}
