import Crypto
import Foundation
import Testing
import TidemarkNIOTransport

/// The console's page, as far as its bytes show it (R-122). `Tests/Console/console.py` tests it in a browser.
@Suite(.timeLimit(.minutes(5))) struct ConsolePageTests {
    private func page() async throws -> (html: String, headers: [String: String]) {
        nonisolated(unsafe) var page: (String, [String: String]) = ("", [:])
        try await TestServer.administered { server in
            let answer = try await server.adminCall("/", token: nil)
            #expect(answer.status == 200)
            page = (answer.text, Dictionary(answer.headers.map { ($0.0.lowercased(), $0.1) }, uniquingKeysWith: { $1 }))
        }
        return (page.0, page.1)
    }

    @Test func `only its own script and style may run, and no other server is contacted`() async throws {
        let (html, headers) = try await page()
        let policy = try #require(headers["content-security-policy"])
        for part in [
            "default-src 'none'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        ] {
            #expect(policy.contains(part))
        }
        #expect(!policy.contains("unsafe") && !policy.contains("http"))
        for tag in ["script", "style"] {
            let parts = html.components(separatedBy: "<\(tag)>")
            #expect(parts.count == 2, "one \(tag)")
            let text = try #require(parts.last?.components(separatedBy: "</\(tag)>").first)
            let digest = Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString()
            #expect(policy.contains("\(tag)-src 'sha256-\(digest)'"))
        }
        #expect(headers["x-frame-options"] == "DENY" && headers["x-content-type-options"] == "nosniff")
        #expect(headers["cache-control"] == "no-store" && headers["set-cookie"] == nil)
    }

    @Test func `it names no other resource, and inserts no text as markup`() async throws {
        let html = try await page().html
        for word in [
            "http://", "https://", "//cdn", "src=", "@import", "url(", "innerHTML", "outerHTML", "insertAdjacentHTML",
            "document.write", "eval(", "Function(", "style=", "onclick=", "localStorage", "document.cookie",
        ] {
            #expect(!html.contains(word), "\(word)")
        }
        #expect(html.contains("prefers-color-scheme: dark") && html.contains("prefers-reduced-motion"))
        #expect(html.contains("aria-live=\"polite\"") && html.contains(":focus-visible"))
    }

    @Test func `users' text is shown with its control and direction marks as numbers`() async throws {
        let html = try await page().html
        #expect(html.contains(#"const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f"#))
        #expect(html.contains(#"\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"#))
        #expect(html.contains(#"\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;"#))
        // Every text that the script adds to the page passes here.
        #expect(html.contains("child instanceof Node ? child : visible(child)"))
        // Labels are read out or shown too; an address and a field's value are sent unchanged.
        #expect(html.contains(#"exact.has(key) ? String(value) : visible(value)"#))
        #expect(html.contains(#"const exact = new Set(["href", "value", "name"]);"#))
        #expect(html.components(separatedBy: "setAttribute(").count == 3, "and the page's own name")
        for line in html.split(separator: "\n") where line.contains("textContent = ") && !line.contains("visible(") {
            #expect(line.contains("textContent = \"That is not its name"), "\(line)")
        }
    }

    @Test func `a frame or a script of another page cannot load it, and a link can`() async throws {
        try await TestServer.administered { server in
            for (dest, status) in [("iframe", 403), ("script", 403), ("document", 200)] {
                let answer = try await server.adminCall(
                    "/", token: nil, headers: [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Dest", dest)])
                #expect(answer.status == status, "\(dest)")
            }
        }
    }
}
