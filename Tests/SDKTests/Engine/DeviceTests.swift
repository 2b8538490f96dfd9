import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

/// The account's devices, as a scripted server lists them.
@Suite struct DeviceTests {
    private let server = BlobShelf()
    private let store: SyncStore

    init() throws {
        store = try SyncStore.inMemory(account: Bench.user, schema: try TestSchema.schema(), environment: .counting())
    }

    private func connect() async throws {
        try store.connect(to: "http://test", transport: server) { "t" }
        _ = try await store.syncNow()
    }

    private static func line(_ id: UInt64, seen: Int64, _ more: String = "") -> String {
        #"{"id":"\#(UniqueID(high: 9, low: id))","user":"ann","registered":1000,"seen":\#(seen),"settled":4,"acked":4\#(more)}"#
    }

    private func answer(_ lines: [String], more: Bool = false) {
        let body = #"{"devices":[\#(lines.joined(separator: ","))],"more":\#(more),"later":{}}"#
        server.answer(200, body: Data(body.utf8))
    }

    @Test func `devices arrive page by page, those seen last first, with their details`() async throws {
        try await connect()
        answer(
            [
                Self.line(1, seen: 5_000),
                Self.line(2, seen: 9_000, #","app":"shop 2","pending":3,"lag":7,"revoked":8000"#),
            ],
            more: true)
        answer([Self.line(3, seen: 7_000, #","connected":true,"news":[1]"#)])
        let devices = try await store.devices()
        #expect(devices.map(\.id) == [2, 3, 1].map { UniqueID(high: 9, low: $0).description })
        let first = devices[0]
        #expect(first.app == "shop 2" && first.pending == 3 && first.lag == 7)
        #expect(
            first.signedOutAt == Date(timeIntervalSince1970: 8) && first.lastSeenAt == Date(timeIntervalSince1970: 9))
        #expect(devices[1].isConnected && devices[1].pending == nil && devices[1].lag == nil)
        #expect(
            server.calls.map(\.target) == ["/v1/devices", "/v1/devices?after=\(UniqueID(high: 9, low: 2))"])
        await store.disconnect()
    }

    @Test func `a list that does not advance is not requested for ever`() async throws {
        try await connect()
        for _ in 0..<5 { answer([Self.line(1, seen: 1)], more: true) }
        #expect(try await store.devices().count == 2)
        #expect(server.calls.count == 2)
        await store.disconnect()
    }

    @Test func `a device is signed out by its name, and all devices by the account's`() async throws {
        try await connect()
        let lost = UniqueID(high: 9, low: 1).description
        server.answer(200, times: 2)
        try await store.signOut(device: lost)
        try await store.signOutEverywhere()
        let bodies = server.calls.compactMap { call -> String? in
            if case .post(let body) = call.call { String(decoding: body, as: UTF8.self) } else { nil }
        }
        #expect(bodies == [#"{"client":"\#(lost)"}"#, #"{"user":"\#(Bench.user.text)"}"#])
        #expect(server.calls.allSatisfy { $0.target == "/v1/revocations" })
        await store.disconnect()
    }

    @Test(arguments: [
        (401, DeviceError.Code.unauthenticated), (403, .unsupported), (404, .notThere), (429, .busy),
        (503, .unavailable),
        (302, .unavailable),
    ])
    func `another answer of the server is an error that names it`(
        _ status: Int, _ code: DeviceError.Code
    ) async throws {
        try await connect()
        // A refused token is renewed once.
        server.answer(status, body: Data("why".utf8), times: status == 401 ? 2 : 1)
        let error = await #expect(throws: DeviceError.self) { try await store.devices() }
        #expect(error?.code == code && error?.message.contains("\(status) why") == true)
        await store.disconnect()
    }

    @Test func `without a connection, an answer, or a capable transport, the error says so`() async throws {
        func code(_ call: () async throws -> Void) async -> DeviceError.Code? {
            await #expect(throws: DeviceError.self) { try await call() }?.code
        }
        #expect(await code { _ = try await store.devices() } == .offline)
        try await connect()
        server.cut(1)
        #expect(await code { _ = try await store.devices() } == .offline)
        #expect(await code { try await store.signOut(device: "x") } == .notThere)
        server.answer(200, body: Data(#"{"devices":[{"id":1}]}"#.utf8))
        #expect(await code { _ = try await store.devices() } == .unavailable)
        server.stopCarrying()
        #expect(await code { try await store.signOutEverywhere() } == .unsupported)
        await store.disconnect()
    }
}
