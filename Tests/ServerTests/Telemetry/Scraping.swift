import NIOPosix
import Testing
import TidemarkNIOTransport

/// The figures of a server, as an operator's Prometheus sees them.
struct Figures {
    private let values: [String: Double]

    /// Requests the figures at the operators' listener.
    init(of server: TestServer) async throws {
        let answer = try await server.callAdmin("/metrics")
        #expect(answer.status == 200)
        var values: [String: Double] = [:]
        for line in answer.text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: " ")
            #expect(parts.count == 2, "\(line)")
            values[String(parts[0])] = try #require(parts[1] == "+Inf" ? .infinity : Double(parts[1]), "\(line)")
        }
        self.values = values
    }

    /// The value of a series, such as `tidemark_closes_total{code="4401"}`; `nil` when it does not exist.
    subscript(series: String) -> Double? { values[series] }
}

extension TestServer {
    static let operated = ["TIDEMARK_ADMIN_LISTEN": "127.0.0.1:0"]

    /// Makes one call to the operators' listener.
    func callAdmin(_ path: String) async throws -> NIOHTTPAnswer {
        try await NIOHTTPClient.request(
            method: "GET", host: "127.0.0.1", port: try #require(adminPort), path: path, useTLS: false, headers: [],
            body: [], group: MultiThreadedEventLoopGroup.singleton)
    }

    /// Repeats the request until a series has this value, or a larger one.
    func figures(until series: String, reaches value: Double) async throws -> Figures {
        var found = try await Figures(of: self)
        try await eventually("\(series) \(value)") {
            found = try await Figures(of: self)
            return (found[series] ?? 0) >= value
        }
        return found
    }
}
