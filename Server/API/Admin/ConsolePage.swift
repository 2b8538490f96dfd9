import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The console: one page, in the program itself, which calls only the operators' API.
struct ConsolePage: Sendable {
    let headers: HTTPFields
    private let page: ByteBuffer

    init() {
        let html = PackageResources.console_html
        page = ByteBuffer(bytes: html)
        var headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
            .contentSecurityPolicy: Self.policy(for: String(decoding: html, as: UTF8.self)),
        ]
        for (name, value) in [
            ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"), ("X-Frame-Options", "DENY"),
        ] {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        self.headers = headers
    }

    var response: Response { Response(status: .ok, headers: headers, body: .init(byteBuffer: page)) }

    /// Allows nothing but the page's one script and one style, by their digests, and calls to its own origin.
    /// So the content of a record or a name is never run, even if it got into the page as markup.
    static func policy(for html: String) -> String {
        func source(_ tag: String) -> String {
            guard let begin = html.range(of: "<\(tag)>"), let end = html.range(of: "</\(tag)>") else { return "'none'" }
            let digest = SHA256.hash(data: Array(html[begin.upperBound..<end.lowerBound].utf8))
            return "'sha256-\(Data(digest).base64EncodedString())'"
        }
        return "default-src 'none'; script-src \(source("script")); style-src \(source("style")); connect-src 'self'; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    }
}

extension API {
    /// `GET /`: the page itself needs no token; it requests everything that it shows with the token that it is given.
    func addConsole(to router: Router<APIContext>) {
        let page = ConsolePage()
        router.get("/") { request, _ in
            // A link on another site may lead here; a frame or a script of another page may not.
            if let mode = HTTPField.Name("Sec-Fetch-Dest").flatMap({ request.headers[$0] }), mode != "document" {
                try AdminGate.refuseOtherSites(request)
            }
            return page.response
        }
    }
}
