import HTTPTypes
import Hummingbird
import NIOCore
import TidemarkModel
import TidemarkStore
import TidemarkWire

/// A refusal of a call: its status, and a body `{"code","msg"}` with the values that the client needs to continue.
struct APIError: Error, CustomStringConvertible {
    let status: HTTPResponse.Status
    /// One of the protocol's codes.
    let code: String
    /// The message for people. It reveals nothing that the caller may not see.
    let message: String
    /// The client's last settled transaction, with `gap`.
    var settledThrough: Int64?
    /// Milliseconds to wait before trying again.
    var retryAfter: Int64?
    /// The least version that is served, with `app_too_old`.
    var appMinimum: String?
    var fields = HTTPFields()

    init(_ status: HTTPResponse.Status, _ code: String, _ message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    /// The text for the log and the audit.
    var description: String { "\(code): \(message)" }

    init(_ error: WireError) { self.init(.badRequest, "invalid", error.description) }

    static var noToken: APIError {
        var error = APIError(.unauthorized, "unauthenticated", "the token is missing")
        error.fields[.wwwAuthenticate] = #"Bearer realm="tidemark""#
        return error
    }

    /// - Parameter reason: the fault of the token.
    static func unauthenticated(_ reason: String) -> APIError {
        var error = APIError(.unauthorized, "unauthenticated", reason)
        error.fields[.wwwAuthenticate] = #"Bearer realm="tidemark", error="invalid_token""#
        return error
    }

    static func busy(_ status: HTTPResponse.Status, _ code: ErrorCode, _ message: String, retryAfter: Int64) -> APIError
    {
        busy(status, code.rawValue, message, retryAfter: retryAfter)
    }

    /// Returns the refusal of the readiness probe; `code` names the fault.
    static func notReady(_ code: String, _ message: String, retryAfter: Int64) -> APIError {
        busy(.serviceUnavailable, code, message, retryAfter: retryAfter)
    }

    private static func busy(
        _ status: HTTPResponse.Status, _ code: String, _ message: String, retryAfter: Int64
    ) -> APIError {
        var error = APIError(status, code, message)
        error.retryAfter = retryAfter
        // HTTP requires whole seconds.
        error.fields[.retryAfter] = String((retryAfter + 999) / 1_000)
        return error
    }

    static func appTooOld(_ minimum: String) -> APIError {
        var error = APIError(
            .upgradeRequired, "app_too_old",
            "older versions of this app than \(minimum) are not served any more; update it")
        error.appMinimum = minimum
        return error
    }

    static let clientUnknown = APIError(
        .conflict, "client_unknown", "this client id is not registered for the user")
    static let tooLarge = APIError(.contentTooLarge, ErrorCode.tooLarge.rawValue, "the request's body is too large")
    static let pageForbidden = APIError(
        .forbidden, ErrorCode.forbidden.rawValue, "page: no such scope, grant or collection for you")

    var response: Response {
        let body = CallError(
            code, message, settledThrough: settledThrough, retryAfter: retryAfter, appMinimum: appMinimum)
        return Response(json: body.encode(), status: status, fields: fields)
    }
}

extension Response {
    /// Makes an answer of JSON bytes.
    init(json: [UInt8], status: HTTPResponse.Status = .ok, fields: HTTPFields = HTTPFields()) {
        var fields = fields
        fields[.contentType] = "application/json"
        fields[.cacheControl] = "no-store"
        self.init(status: status, headers: fields, body: .init(byteBuffer: ByteBuffer(bytes: json)))
    }
}
