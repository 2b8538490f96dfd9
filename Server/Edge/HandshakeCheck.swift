import NIOHTTP1

/// Judges a request to the WebSocket's path: pure, so that the whole table of refusals is testable.
enum HandshakeCheck {
    /// The path of the WebSocket.
    static let path = "/v1/sync"
    /// The encoding that a client must offer, and that is used.
    static let subprotocol = "tidemark.1.json"

    static func isForSocket(_ head: HTTPRequestHead) -> Bool {
        head.uri.prefix { $0 != "?" } == path
    }

    /// Returns the reason why the handshake is refused, or `nil` when it may continue.
    static func refusal(of head: HTTPRequestHead) -> HTTPRefusal? {
        let headers = head.headers
        guard head.method == .GET else {
            return HTTPRefusal(.methodNotAllowed, "invalid", "a WebSocket opens with GET", [("Allow", "GET")])
        }
        guard head.version == .http1_1, headers.hasToken("websocket", in: "upgrade"),
            headers.hasToken("upgrade", in: "connection")
        else {
            return .upgradeRequired("this address speaks WebSocket only")
        }
        guard headers[canonicalForm: "sec-websocket-version"].elementsEqual(["13"]) else {
            return .upgradeRequired("only version 13 of WebSocket is supported")
        }
        guard headers.websocketKey != nil else {
            return HTTPRefusal(.badRequest, "invalid", "Sec-WebSocket-Key must be 16 bytes in base64, once")
        }
        guard headers[canonicalForm: "sec-websocket-protocol"].contains(where: { $0 == Self.subprotocol }) else {
            return HTTPRefusal(
                .badRequest, "invalid", "offer the subprotocol \(Self.subprotocol) in Sec-WebSocket-Protocol")
        }
        return nil
    }
}

extension HTTPHeaders {
    /// The handshake's key, if there is exactly one and it has the form of 16 bytes in base64.
    var websocketKey: String? {
        let keys = self["sec-websocket-key"]
        guard keys.count == 1, let key = keys.first, key.utf8.count == 24, key.hasSuffix("==") else { return nil }
        let isBase64 = key.utf8.dropLast(2).allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"): true
            default: false
            }
        }
        return isBase64 ? key : nil
    }

    /// The token of `Authorization: Bearer …`.
    var bearerToken: String? {
        guard let value = first(name: "authorization") else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1].drop { $0 == " " })
    }

    fileprivate func hasToken(_ token: String, in name: String) -> Bool {
        self[canonicalForm: name].contains { $0.lowercased() == token }
    }
}
