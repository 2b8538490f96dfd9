/// An HTTP answer, whole.
package struct NIOHTTPAnswer: Sendable, Equatable {
    /// The status code.
    package let status: Int
    /// The header fields in the order of their arrival.
    package let headers: [(name: String, value: String)]
    /// The body as sent: content encodings are not decoded.
    package let body: [UInt8]

    /// Returns the first header field with that name, in any case.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    package static func == (one: NIOHTTPAnswer, other: NIOHTTPAnswer) -> Bool {
        one.status == other.status && one.body == other.body
            && one.headers.elementsEqual(other.headers) { $0 == $1 }
    }
}
