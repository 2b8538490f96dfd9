import TidemarkModel

/// HTTP calls beside the connection, with its token. A refused token is renewed once.
struct ServerCalls: Sendable {
    let url: String
    let transport: any Transport
    let tokens: CallTokens
    /// Returns this device's id at the server; `nil` if it has none yet.
    var client: @Sendable () async throws -> ClientID? = { nil }

    /// - Parameters:
    ///   - timeout: the longest time that one exchange may take.
    ///   - target: returns path and query, percent-encoded, for a client id: it is sent only to a server that refused
    ///     the token.
    func exchange(
        _ call: HTTPCall.Call, maxAnswerBytes: Int, within timeout: Duration, _ target: (ClientID?) -> String
    ) async throws -> HTTPAnswer {
        func request(_ token: String, from client: ClientID?) -> HTTPCall {
            HTTPCall(
                call: call, target: target(client), token: token, maxAnswerBytes: maxAnswerBytes, timeout: timeout)
        }
        let token = try await tokens.current()
        let answer = try await transport.exchange(request(token, from: nil), with: url)
        guard answer.status == 401 else { return answer }
        // Another device of the user may have been signed out: the client id shows that this is not that one.
        let other = try await tokens.another(than: token)
        return try await transport.exchange(request(other, from: try await client()), with: url)
    }
}
