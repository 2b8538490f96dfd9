import Foundation
import Testing
import Tidemark
import TidemarkNIOTransport

@Suite(.timeLimit(.minutes(5))) struct NIOBlobTests {
    private func request(_ call: HTTPCall.Call, _ target: String, max: Int = 1 << 20) -> HTTPCall {
        HTTPCall(call: call, target: target, token: "t0ken", maxAnswerBytes: max, timeout: .seconds(30))
    }

    @Test(arguments: [false, true])
    func `a blob is sent and fetched with its token, in the clear and under TLS`(_ tls: Bool) async throws {
        let bytes = Data((0..<300_000).map { UInt8($0 % 251) })
        try await TestCertificate.file { file in
            try await EchoServer.running(tls: tls) { port, _ in
                let url = "\(tls ? "https" : "http")://localhost:\(port)/v1"
                let transport = NIOTransport(trustRootsFile: file)
                let put = try await transport.exchange(request(.put(bytes), "/blob?scope=a%20b"), with: url)
                #expect(put == HTTPAnswer(status: 201, retryAfter: nil, body: bytes))
                let get = try await transport.exchange(request(.get, "/blob?scope=a%20b"), with: url)
                #expect(get.status == 429 && get.retryAfter == "7")
                #expect(String(decoding: get.body, as: UTF8.self) == "Bearer t0ken a b")
                await #expect(throws: HTTPAnswerTooLong.self) {
                    try await transport.exchange(request(.put(bytes), "/blob", max: bytes.count - 1), with: url)
                }
                await #expect(throws: ServerAddress.Malformed.self) {
                    try await transport.exchange(request(.get, "/blob"), with: "ftp://localhost")
                }
            }
        }
    }
}
