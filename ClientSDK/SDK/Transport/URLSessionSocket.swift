#if canImport(Darwin)
import Foundation

/// Apple's WebSocket.
struct URLSessionSocket: MessageSocket {
    let task: URLSessionWebSocketTask

    func send(_ message: [UInt8]) async throws {
        try await task.send(.string(String(decoding: message, as: UTF8.self)))
    }

    func receive(_ done: @escaping @Sendable (Result<[UInt8], any Error>) -> Void) {
        task.receive { [task] result in
            switch result {
            case .success(.string(let text)): done(.success(Array(text.utf8)))
            case .success(.data(let data)): done(.success(Array(data)))
            case .success: done(.failure(TransportClosed(code: 1003, reason: "unknown kind of message")))
            case .failure(let error): done(.failure(task.end(error)))
            }
        }
    }

    func ping(_ done: @escaping @Sendable (Bool) -> Void) { task.sendPing { done($0 == nil) } }

    func cancel(code: UInt16) {
        task.cancel(with: URLSessionWebSocketTask.CloseCode(rawValue: Int(code)) ?? .normalClosure, reason: nil)
    }
}

extension URLSessionWebSocketTask {
    /// Returns the reason why nothing arrives any more.
    fileprivate func end(_ error: any Error) -> any Error {
        guard closeCode != .invalid else { return SyncFailure(error, response) }
        return TransportClosed(
            code: UInt16(clamping: closeCode.rawValue), reason: String(decoding: closeReason ?? Data(), as: UTF8.self))
    }
}

extension SyncFailure {
    /// Creates the failure for a URLSession error: no connection, or an end without a close code.
    fileprivate init(_ error: any Error, _ response: URLResponse?) {
        if let status = (response as? HTTPURLResponse)?.statusCode, status != 101 {
            self.init(httpStatus: status, "\(error)")
            return
        }
        switch (error as? URLError)?.code {
        // A delegate that does not trust the server cancels.
        case .secureConnectionFailed?, .serverCertificateHasBadDate?, .serverCertificateUntrusted?,
            .serverCertificateHasUnknownRoot?, .serverCertificateNotYetValid?, .clientCertificateRejected?,
            .clientCertificateRequired?, .appTransportSecurityRequiresSecureConnection?, .cancelled?:
            self.init(.tlsFailed, "\(error)")
        case .badServerResponse?, .cannotParseResponse?: self.init(.notASyncServer, "\(error)")
        case .notConnectedToInternet?, .cannotFindHost?, .cannotConnectToHost?, .dnsLookupFailed?, .timedOut?:
            self.init(.unreachable, "\(error)")
        default: self.init(.connectionLost, "\(error)")
        }
    }
}
#endif
