import Foundation
package import TidemarkModel

/// A write that waits in the spool: whose it is, when it was made, and what it does.
package struct SpooledWrite: Hashable, Sendable {
    /// The transaction's id from the beginning: what is adopted twice is so once.
    package var id: UniqueID
    /// Who was signed in.
    package var account: UserID
    /// The name of the app's schema.
    package var schema: String
    /// The device's clock when it was made.
    package var written: Milliseconds
    /// What it does, in this order.
    package var steps: [SpoolStep]

    /// JSON in one line, and behind it the bytes that are to be kept.
    var payload: Data {
        let head: Fields = [
            "id": .string(id.description), "account": .string(account.text), "schema": .string(schema),
            "written": .integer(written), "steps": .array(steps.map(\.value)),
        ]
        var payload = Data("\(FieldValue.object(head).json)\n".utf8)
        for case .keep(_, let bytes) in steps { payload += bytes }
        return payload
    }

    /// Bytes of the JSON.
    static func headBytes(of payload: Data) -> Int {
        payload.firstIndex(of: UInt8(ascii: "\n")).map { $0 - payload.startIndex } ?? payload.count
    }

    /// `nil` for what no SDK wrote.
    init?(payload: Data) {
        let count = Self.headBytes(of: payload)
        // Whatever is wrong with the JSON, no SDK wrote it.
        guard count < payload.count,
            let head = try? JSONReader.read(Array(payload.prefix(count)), { try $0.fields() }),
            case .string(let id)? = head["id"], let id = UniqueID(id),
            case .string(let account)? = head["account"], let account = UserID(checking: account),
            case .string(let schema)? = head["schema"], case .integer(let written)? = head["written"],
            case .array(let values)? = head["steps"]
        else { return nil }
        var bytes = Data(payload.dropFirst(count + 1))
        var steps: [SpoolStep] = []
        for value in values {
            guard let step = SpoolStep(value, &bytes) else { return nil }
            steps.append(step)
        }
        guard bytes.isEmpty else { return nil }
        self.init(id: id, account: account, schema: schema, written: written, steps: steps)
    }

    init(id: UniqueID, account: UserID, schema: String, written: Milliseconds, steps: [SpoolStep]) {
        (self.id, self.account, self.schema) = (id, account, schema)
        (self.written, self.steps) = (written, steps)
    }
}
