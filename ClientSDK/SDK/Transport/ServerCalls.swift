import TidemarkModel

/// Calls beside the connection, by its token. A refused token is renewed once.
struct ServerCalls: Sendable {
    let url: String
    let transport: any Transport
    let tokens: CallTokens
    /// This device as the server knows it; `nil` for none yet.
    var client: @Sendable () async throws -> ClientID? = { nil }

    /// - Parameters:
    ///   - timeout: the longest that one exchange may take.
    ///   - target: path and query, percent-encoded, for who calls: only a server that refused the token is told.
    func exchange(
        _ call: HTTPCall.Call, answerBytesMax: Int, within timeout: Duration, _ target: (ClientID?) -> String
    ) async throws -> HTTPAnswer {
        func request(_ token: String, from client: ClientID?) -> HTTPCall {
            HTTPCall(
                call: call, target: target(client), token: token, answerBytesMax: answerBytesMax, timeout: timeout)
        }
        let token = try await tokens.current()
        let answer = try await transport.exchange(request(token, from: nil), with: url)
        guard answer.status == 401 else { return answer }
        // Another device of the user may have been signed out: this one says that it is not that one.
        let other = try await tokens.another(than: token)
        return try await transport.exchange(request(other, from: try await client()), with: url)
    }
}
