import TidemarkModel

/// The body of every answer that refuses a call: `{"code","msg"}`, with what the caller needs to go on.
package struct CallError: Hashable, Sendable {
    /// One of the protocol's codes.
    package var code: String
    /// The reason, for people.
    package var message: String
    /// With `gap`: the client's last settled transaction.
    package var settledThrough: Int64?
    /// Milliseconds to wait before trying again.
    package var retryAfter: Int64?
    /// With `app_too_old`: the lowest version of the app that is served.
    package var appMinimum: String?

    package init(
        _ code: String, _ message: String, settledThrough: Int64? = nil, retryAfter: Int64? = nil,
        appMinimum: String? = nil
    ) {
        self.code = code
        self.message = message
        self.settledThrough = settledThrough
        self.retryAfter = retryAfter
        self.appMinimum = appMinimum
    }

    package func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 128)
        writer.string("{\"code\":", code)
        writer.string(",\"msg\":", message)
        for (name, value) in [("lmid", settledThrough), ("retry_ms", retryAfter)] {
            guard let value else { continue }
            writer.member(name)
            writer.integer(value)
        }
        if let appMinimum { writer.string(",\"min_app\":", appMinimum) }
        return writer.ended()
    }
}
