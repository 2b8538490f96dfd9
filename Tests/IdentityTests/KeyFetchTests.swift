import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing
import TidemarkLock
import TidemarkModel

@testable import TidemarkIdentity

/// Keys over HTTP, from a server on the loopback address.
@Suite(.timeLimit(.minutes(1))) struct KeyFetchTests {
    private let fetch = KeyFetch(group: MultiThreadedEventLoopGroup.singleton, timeout: .seconds(30))
    private let loopback = [Network("127.0.0.0/8")].compactMap(\.self)

    private func source(_ site: KeySite, path: String = "/keys") throws -> KeySource {
        try KeySource(url: "http://127.0.0.1:\(site.port)\(path)", named: loopback, trustRoots: nil)
    }

    /// The text of the failure; empty for a good answer.
    private func failure(_ source: KeySource, _ fetch: KeyFetch? = nil) async -> String {
        do throws(KeyFetchError) {
            _ = try await (fetch ?? self.fetch)(source)
            return ""
        } catch {
            return error.description
        }
    }

    @Test func `keys are fetched with one request, and the answer says how long they are fresh`() async throws {
        let key = try TestKey.es256("a")
        try await KeySite.running { site async throws in
            site.answer(.ok, ["Cache-Control": "public, max-age=600", "Age": "100"], TestKey.set(key))
            let fetched = try await fetch(try source(site, path: "/keys?for=us"))
            #expect(fetched.keys.keys.map(\.id) == ["a"])
            #expect(fetched.freshFor == 500_000)
            #expect(site.requests == ["GET /keys?for=us"])
        }
    }

    @Test func `keys that are rotated while tokens arrive sign no user out`() async throws {
        let (old, new) = (try TestKey.es256("a"), try TestKey.es256("b"))
        try await KeySite.running { site async throws in
            site.answer(.ok, [:], TestKey.set(old))
            let text = document(
                #"{"url": "http://127.0.0.1:\#(site.port)/keys", "allow_addresses": "127.0.0.1"}"#, #""ES256""#)
            let issuers = try await IssuerFile(Array(text.utf8)) { _ in nil }.issuers()
            let time = Lock(start * 1_000)
            let now: @Sendable () -> Milliseconds = { time.withLock { $0 } }
            let service = KeyService(for: issuers, now: now, logger: .quiet, fetch: fetch.callAsFunction)
            let verifier = TokenVerifier(issuers, keys: service, now: now)
            let running = Task { await service.run() }
            #expect(try await verifier.label(old.sign(claims())) == "accepted")
            site.answer(.ok, [:], TestKey.set(old, new))
            time.withLock { $0 += 10_000 }
            await withTaskGroup(of: String.self) { group in
                for number in 0..<50 {
                    group.addTask { await verifier.label((try? (number % 2 == 0 ? old : new).sign(claims())) ?? "") }
                }
                for await label in group { #expect(label == "accepted") }
            }
            #expect(site.requests.count == 2)
            site.answer(.internalServerError, [:], "")
            time.withLock { $0 += 3_000_000 }
            let later = ["iat": "\(start + 3_010)", "exp": "\(start + 3_600)"]
            #expect(try await verifier.label(new.sign(claims(later))) == "accepted")
            #expect(try await verifier.label(TestKey.es256("c").sign(claims(later))) == "unavailable")
            running.cancel()
            await running.value
        }
    }

    @Test func `anything but a bounded set with status 200 is a failure`() async throws {
        try await KeySite.running { site async throws in
            site.answer(.found, ["Location": "http://127.0.0.1:\(site.port)/other"], "")
            #expect(try await failure(source(site)) == "status 302; redirects are not followed")
            site.answer(.serviceUnavailable, [:], "{}")
            #expect(try await failure(source(site)) == "status 503; redirects are not followed")
            site.answer(.ok, [:], "<html>")
            #expect(try await failure(source(site)).hasPrefix("the answer is not a key set: no JSON object"))
            site.answer(.ok, [:], String(repeating: " ", count: 256 * 1_024 + 1))
            #expect(try await failure(source(site)) == "more than 262144 bytes")
            let good = TestKey.set(try TestKey.es256("a"))
            site.answer(.ok, [:], good + String(repeating: " ", count: 256 * 1_024 - good.utf8.count))
            #expect(try await failure(source(site)).isEmpty)
            site.answer(.ok, [:], #"{"keys":[]}"#)
            #expect(try await failure(source(site)) == "the answer has no key for tokens")
            site.answer(.ok, [:], TestKey.set(try TestKey.hs256([UInt8](repeating: 7, count: 40), "s")))
            #expect(
                try await failure(source(site))
                    == #"the answer has no key for tokens, but kid "s": a secret that everybody can read"#)
            #expect(site.requests.count == 7)
        }
    }

    @Test func `a silent endpoint is waited for a while`() async throws {
        try await KeySite.running { site async throws in
            let brief = KeyFetch(group: MultiThreadedEventLoopGroup.singleton, timeout: .milliseconds(200))
            #expect(try await failure(source(site), brief) == "no answer in time")
        }
    }

    @Test func `a name that resolves to an address which is not listed is not contacted`() async throws {
        try await KeySite.running { site async throws in
            site.answer(.ok, [:], TestKey.set(try TestKey.es256("a")))
            // Like a name that is looked up: its address is known only when the connection is open.
            for (tls, named, words) in [
                (false, [], "http is for a named loopback address alone"),
                (true, [], "127.0.0.1 is no public address; name it in \"allow_addresses\" if that is right"),
            ] as [(Bool, [Network], String)] {
                let rebound = KeySource(
                    usesTLS: tls, host: "127.0.0.1", port: site.port, path: "/", named: named, trustRoots: nil)
                #expect(await failure(rebound) == words)
            }
            #expect(site.requests.isEmpty)
        }
    }

    static let ages: [([String: String], Int64?)] = [
        ([:], nil), (["Cache-Control": "max-age=60"], 60_000), (["Cache-Control": "no-store"], 0),
        (["Cache-Control": "Public, Max-Age=60, must-revalidate"], 60_000), (["Cache-Control": "max-age=-1"], nil),
        (["Cache-Control": "max-age=99999999999999999999"], nil),
        (["Cache-Control": "max-age=9223372036854775807"], 31_536_000_000),
        (["Cache-Control": "max-age=60", "Age": "9223372036854775807"], 0),
        (["Cache-Control": "max-age=60", "Age": "-9223372036854775808"], 60_000),
    ]

    @Test(arguments: ages)
    func `the freshness that an answer claims is bounded`(_ fields: [String: String], _ milliseconds: Int64?) {
        #expect(Freshness.milliseconds(HTTPHeaders(fields.map { ($0.key, $0.value) })) == milliseconds)
    }

    @Test func `private addresses are recognised in all their forms`() {
        for text in [
            "127.0.0.1", "10.1.2.3", "172.31.255.255", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "fd12::1", "ff02::1", "::ffff:10.0.0.1",
            "::ffff:127.0.0.1",
            "64:ff9b::10.0.0.1", "2002:7f00:1::", "2001:db8::1",
        ] {
            let isPublic = Network.bytes(text).map(Network.isPublic)
            #expect(isPublic == false, "\(text)")
        }
        for text in ["1.1.1.1", "172.32.0.1", "8.8.8.8", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1"] {
            #expect(Network.bytes(text).map(Network.isPublic) == true, "\(text)")
        }
        for text in ["010.0.0.1", "10.1", "1.2.3.4.5", "256.0.0.1", "0x7f.0.0.1", "1:2", ":::", "g::", "1::2::3", ""] {
            #expect(Network.bytes(text) == nil, "\(text)")
        }
    }
}
