import Testing
import TidemarkEdge
import TidemarkModel

@testable import TidemarkAssembly
@testable import TidemarkWire

/// Every bound that is announced to clients, moved up and down: the announced bound is the enforced one.
@Suite struct LimitTableTests {
    /// One bound: how to move it, and a test whether `count` passes.
    struct Bound: Sendable, CustomTestStringConvertible {
        let name: String
        /// Passes by default, and does not when the bound is `lowered`.
        let usual: Int
        let lowered: Int
        /// Does not pass by default, and does when the bound is `raised`.
        let large: Int
        let raised: Int
        let set: @Sendable (inout WireLimits, Int) -> Void
        let passes: @Sendable (WireLimits, Int) throws -> Bool

        var testDescription: String { name }
    }

    private static func once(_ limits: WireLimits, _ transactions: [Transaction]) throws -> Bool {
        var desk = try SessionDesk(limits)
        return desk.pushes(transactions)
    }

    static let bounds = [
        Bound(
            name: "push", usual: 3, lowered: 2, large: 250, raised: 300, set: { $0.pushTransactionsMax = $1 },
            passes: { try once($0, (0..<$1).map { .note($0) }) }),
        Bound(
            name: "pushes", usual: 2, lowered: 1, large: 11, raised: 12, set: { $0.pushesInFlightMax = $1 },
            passes: { limits, count in
                var desk = try SessionDesk(limits)
                return (0..<count).allSatisfy { desk.pushes([.note($0)], from: Int64($0) + 1) }
            }),
        Bound(
            name: "pages", usual: 2, lowered: 1, large: 257, raised: 300, set: { $0.pagesInFlightMax = $1 },
            passes: { limits, count in
                var desk = try SessionDesk(limits)
                return (0..<count).allSatisfy { _ in desk.takesPage() }
            }),
        Bound(
            name: "page", usual: 20, lowered: 10, large: 250, raised: 300, set: { $0.pageRowsMax = $1 },
            passes: { limits, count in
                var desk = try SessionDesk(limits)
                return desk.page(limit: count) == count
            }),
        Bound(
            name: "scopes", usual: 2, lowered: 1, large: 20_500, raised: 21_000, set: { $0.scopesMax = $1 },
            passes: { try SessionDesk($0, scopes: $1).holds($1) }),
        Bound(
            name: "rate", usual: 100, lowered: 50, large: 200, raised: 300, set: { $0.transactionsPerSecond = $1 },
            passes: { limits, count in
                // A full bucket is emptied first: the rate is what passes a second later.
                var limits = limits
                limits.transactionsBurst = 1_000
                limits.pushTransactionsMax = 1_000
                var desk = try SessionDesk(limits)
                guard desk.pushes((0..<1_000).map { .note($0) }) else { return false }
                desk.pass(milliseconds: 1_000)
                return desk.pushes((0..<count).map { .note($0) }, from: 1_001)
            }),
        Bound(
            name: "burst", usual: 200, lowered: 150, large: 1_200, raised: 2_000,
            set: { $0.transactionsBurst = $1 },
            passes: { limits, count in
                var limits = limits
                limits.transactionsPerSecond = 0
                var desk = try SessionDesk(limits)
                return (0..<count).allSatisfy { desk.settles([.note($0)], from: Int64($0) + 1) }
            }),
        Bound(
            name: "window_bytes", usual: 1_000, lowered: 300, large: 1_100_000, raised: 1_200_000,
            set: { $0.windowBytesMax = $1 },
            passes: { limits, count in
                var desk = try SessionDesk(limits)
                return desk.delivers(bytes: 100) && desk.delivers(bytes: count)
            }),
        Bound(
            name: "window_frames", usual: 10, lowered: 5, large: 1_200, raised: 1_300,
            set: { $0.windowFramesMax = $1 },
            passes: { limits, count in
                var desk = try SessionDesk(limits)
                return (0..<count).allSatisfy { _ in desk.delivers(bytes: 10) }
            }),
        Bound(
            name: "record_bytes", usual: 10_000, lowered: 5_000, large: 404_000, raised: 1_048_576,
            set: {
                $0.model.recordBytesMax = $1
                $0.model.transactionBytesMax = max($0.model.transactionBytesMax, $1 + 1_024)
            },
            passes: { try once($0, [.note(1, bytes: $1)]) }),
        Bound(
            name: "transaction_bytes", usual: 10_000, lowered: 5_000, large: 404_000, raised: 600_000,
            set: { $0.model.transactionBytesMax = $1 },
            passes: { try once($0, [.notes(2, bytes: $1 / 2)]) }),
        Bound(
            name: "mutations", usual: 3, lowered: 2, large: 100, raised: 128, set: { $0.model.mutationsMax = $1 },
            passes: { try once($0, [.notes($1, bytes: 10)]) }),
    ]

    @Test(arguments: bounds)
    func `a bound that is moved is enforced`(_ bound: Bound) throws {
        var (raised, lowered) = (WireLimits(), WireLimits())
        bound.set(&raised, bound.raised)
        bound.set(&lowered, bound.lowered)
        #expect(try bound.passes(WireLimits(), bound.usual), "\(bound.name): \(bound.usual) of the usual")
        #expect(try !bound.passes(lowered, bound.usual), "\(bound.name): \(bound.usual) of \(bound.lowered)")
        #expect(try !bound.passes(WireLimits(), bound.large), "\(bound.name): \(bound.large) of the usual")
        #expect(try bound.passes(raised, bound.large), "\(bound.name): \(bound.large) of \(bound.raised)")
    }

    /// The edge's own bounds are tested over a socket.
    private static let triedElsewhere: Set = ["message_bytes", "blob_bytes"]

    @Test func `no bound that is announced to clients is missing here`() throws {
        var limits = WireLimits()
        limits.blobBytesMax = 1
        var writer = JSONWriter(capacity: 512)
        limits.write(to: &writer)
        let told = try JSONReader.read(writer.bytes) { try $0.fields() }.entries.map(\.name)
        #expect(Set(told) == Set(Self.bounds.map(\.name)).union(Self.triedElsewhere))
    }

    @Test(arguments: [
        (["RECORD_BYTES": 1_048_576], [1_048_576, 1_049_600, 1_050_624]),
        (["RECORD_BYTES": 10_000], [10_000, 262_144, 1_048_576]),
        (["TRANSACTION_BYTES": 2_000_000], [262_144, 2_000_000, 2_001_024]),
        (["TRANSACTION_BYTES": 100_000], [98_976, 100_000, 1_048_576]),
        (["MESSAGE_BYTES": 65_536], [63_488, 64_512, 65_536]),
        (["MESSAGE_BYTES": 4_194_304], [262_144, 262_144, 4_194_304]),
        ([:], [262_144, 262_144, 1_048_576]),
    ])
    func `unset sizes follow those that are set`(_ set: [String: Int], _ sizes: [Int]) throws {
        var limits = ServerLimits()
        try limits.apply(Dictionary(uniqueKeysWithValues: set.map { (LimitSetting.prefix + $0.key, "\($0.value)") }))
        let model = limits.wire.model
        #expect([model.recordBytesMax, model.transactionBytesMax, limits.wire.messageBytesMax] == sizes)
        #expect(limits.edge.messageBytesMax == limits.wire.messageBytesMax)
    }

    @Test(arguments: [
        (["RECORD_BYTES": 300_000, "TRANSACTION_BYTES": 300_000], "RECORD_BYTES", 301_024),
        (["RECORD_BYTES": 300_000, "MESSAGE_BYTES": 300_000], "RECORD_BYTES", 302_048),
        (["TRANSACTION_BYTES": 300_000, "MESSAGE_BYTES": 300_000], "TRANSACTION_BYTES", 301_024),
    ])
    func `sizes that contradict each other are refused with values that would fit`(
        _ set: [String: Int], _ name: String, _ least: Int
    ) throws {
        var limits = ServerLimits()
        let environment = Dictionary(uniqueKeysWithValues: set.map { (LimitSetting.prefix + $0.key, "\($0.value)") })
        let error = #expect(throws: ConfigurationError.self) { try limits.apply(environment) }
        #expect(error?.setting == LimitSetting.prefix + name)
        #expect(error?.reason.hasSuffix("set that to \(least) or more") == true)
    }
}
