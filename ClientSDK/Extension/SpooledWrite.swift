import Foundation
package import TidemarkModel

/// A write that waits in the spool: its user, its time, and its steps.
package struct SpooledWrite: Hashable, Sendable {
    /// The transaction's id, from the beginning: a write that is adopted twice takes effect once.
    package var id: UniqueID
    /// The user who was signed in.
    package var account: UserID
    /// The name of the app's schema.
    package var schema: String
    /// The device's clock at the time of the write.
    package var written: Milliseconds
    /// The steps, in their order.
    package var steps: [SpoolStep]

    /// One line of JSON, followed by the bytes to be kept.
    var payload: Data {
        let head: Fields = [
            "id": .string(id.description), "account": .string(account.text), "schema": .string(schema),
            "written": .integer(written), "steps": .array(steps.map(\.value)),
        ]
        var payload = Data("\(FieldValue.object(head).json)\n".utf8)
        for case .keep(_, let bytes) in steps { payload += bytes }
        return payload
    }

    /// Returns the length of the JSON in bytes.
    static func headBytes(of payload: Data) -> Int {
        payload.firstIndex(of: UInt8(ascii: "\n")).map { $0 - payload.startIndex } ?? payload.count
    }

    /// `nil` for a form that no SDK wrote.
    init?(payload: Data) {
        let count = Self.headBytes(of: payload)
        // Whatever its error, no SDK wrote such JSON.
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
