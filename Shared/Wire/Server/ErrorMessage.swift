import TidemarkModel

/// Reports that a request was not carried out and may be tried again; the connection goes on.
package struct ErrorMessage: Hashable, Sendable {
    package var code: ErrorCode
    package var message: String
    /// The request that it answers.
    package var request: Int64?
    /// The milliseconds to wait before trying again.
    package var retryAfter: Int64?
    /// With `gap`: the client's last settled transaction.
    package var settledThrough: Int64?

    package init(
        _ code: ErrorCode, _ message: String, request: Int64? = nil, retryAfter: Int64? = nil,
        settledThrough: Int64? = nil
    ) {
        self.code = code
        self.message = message
        self.request = request
        self.retryAfter = retryAfter
        self.settledThrough = settledThrough
    }

    func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 160)
        writer.string("{\"t\":\"err\",\"code\":", code.rawValue)
        writer.string(",\"msg\":", message)
        for (name, value) in [("rid", request), ("retry_ms", retryAfter), ("lmid", settledThrough)] {
            guard let value else { continue }
            writer.member(name)
            writer.integer(value)
        }
        return writer.ended()
    }

    static func decode(_ bytes: [UInt8]) throws(WireError) -> ErrorMessage {
        var error = ErrorMessage(.unavailable, "")
        try MessageReader.members(of: bytes, "err") { reader, key in
            switch key {
            case "code": error.code = ErrorCode(rawValue: try reader.string()) ?? .unavailable
            case "msg": error.message = try reader.string()
            case "rid": error.request = try MessageReader.count(&reader)
            case "retry_ms": error.retryAfter = try MessageReader.count(&reader)
            case "lmid": error.settledThrough = try MessageReader.count(&reader)
            default: try reader.skip()
            }
        }
        return error
    }
}
