import Foundation
import Testing
import Tidemark
import TidemarkLock
import TidemarkModel

@testable import TidemarkTestKit

/// Each number of each message at its extremes, sent to a running engine and to a running server. Neither traps, and
/// the server continues to serve all other clients.
@Suite(.timeLimit(.minutes(5))) struct NumberFuzzTests {
    /// Replaces one number of each message of a kind: at each path in turn, by each extreme.
    private final class Spoiler: Sendable {
        private struct State {
            /// The number of extremes that each path has had.
            var places: [String: Int] = [:]
            /// The paths in the order in which they were met.
            var order: [String] = []
            var replaced = 0

            func turn(of number: NumberPlace) -> Int { order.firstIndex(of: number.place) ?? 0 }
        }

        static let extremes = [
            "\(Int64.min)", "\(Int64.max)", "-1", "0", "9007199254740991", "9007199254740992", "1e308", "-1.5",
            "18446744073709551616",
        ]

        private let kind: String
        private let direction: Loopback.Direction
        private let state = Lock(State())

        init(_ kind: String, _ direction: Loopback.Direction) {
            self.kind = kind
            self.direction = direction
        }

        /// The paths that arrived and were never replaced.
        var missed: [String] { state.withLock { state in state.order.filter { state.places[$0] == 0 } } }
        var replaced: Int { state.withLock { $0.replaced } }

        /// The message with another digest, if it has one: the device requests lists only then.
        private static func withOtherDigest(_ message: [UInt8]) -> [UInt8] {
            guard let end = message.firstRange(of: Array("\"]".utf8))?.lowerBound else { return message }
            var changed = message
            changed[end - 1] = changed[end - 1] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
            return changed
        }

        func rewrite(_ message: [UInt8], _ direction: Loopback.Direction) -> [UInt8] {
            guard direction == self.direction, message.starts(with: Array(#"{"t":"\#(kind)""#.utf8)) else {
                return message
            }
            let numbers = NumberPlace.all(in: message)
            return state.withLock { state in
                for number in numbers where state.places[number.place] == nil {
                    state.places[number.place] = 0
                    state.order.append(number.place)
                }
                // The path met last is first: it is the rarest.
                for number in numbers.sorted(by: { state.turn(of: $0) > state.turn(of: $1) }) {
                    let extreme = state.places[number.place] ?? 0
                    guard extreme < Self.extremes.count else { continue }
                    var changed = message
                    changed.replaceSubrange(number.range, with: Array(Self.extremes[extreme].utf8))
                    state.places[number.place] = extreme + 1
                    state.replaced += 1
                    return changed
                }
                return kind == "compared" ? Self.withOtherDigest(message) : message
            }
        }
    }

    /// Bob's devices, one after the other, whose messages are changed; ann's are not.
    private final class Ground {
        let desk: Desk
        var device: TestClient
        private let pause: Duration
        private var number = 0
        private var watched: AsyncStream<[UserID: Presence]>?

        /// - Parameter pause: after each stir; long enough for requests that a silent connection causes.
        init(pause: Duration = .seconds(3)) async throws {
            self.pause = pause
            desk = try await Desk()
            for text in ["a", "b", "c"] { try await desk.write(text, by: desk.ann) }
            try await desk.kit.settle()
            device = desk.bob
        }

        /// Starts another device of bob's, so that a failure of the last one does not hide later ones.
        func next(_ spoiler: Spoiler) async throws {
            device.goOffline()
            desk.kit.loopback.rewrite(device.number, by: nil)
            number += 1
            device = try await desk.kit.client("bob", isOnline: false)
            desk.kit.loopback.rewrite(device.number) { spoiler.rewrite($0, $1) }
            device.goOnline()
            await desk.kit.advance(by: .seconds(3))
        }

        /// Makes both sides send messages of every kind.
        func stir() async throws {
            number += 1
            try await desk.write("text \(number)", by: desk.ann)
            let store = device.store
            let notes = try await store.repository(Note.self).readAll()
            if let note = notes.first {
                do {
                    try await store.write { batch in
                        batch.update(Note.self, note.id) { $0.likes = ($0.likes ?? 0) &+ 1 }
                    }
                } catch is StoreError {
                    // The counter arrived with an extreme value, which cannot be raised.
                }
                _ = try await store.history(of: note.id, in: Note.collection)
            }
            store.compareWithServer()
            let scope = ScopeID(record: desk.room.id)
            for speaker in [store, desk.ann.store] { speaker.send(ephemeral: "typing", ["n": 1], in: scope) }
            watched = store.presence(in: scope)
            await desk.kit.advance(by: pause)
        }
    }

    private static let toClient = ["welcome", "changes", "page", "history", "compared", "eph", "auth_ok"]
    /// `auth` has no number.
    private static let toServer = ["hello", "push", "ack", "page", "history", "compare", "eph"]

    @Test(arguments: toClient) func `no number of a server's message traps a client`(_ kind: String) async throws {
        try await fuzz(kind, .toClient)
    }

    @Test(arguments: toServer) func `no number of a client's message traps a server`(_ kind: String) async throws {
        try await fuzz(kind, .toServer)
    }

    private func fuzz(_ kind: String, _ direction: Loopback.Direction) async throws {
        let ground = try await Ground(pause: kind.hasPrefix("auth") ? .seconds(50) : .seconds(3))
        let spoiler = Spoiler(kind, direction)
        // Some messages may lack a path, and no more may arrive before it has had every extreme.
        var idle = 0
        while idle < 3 {
            let before = spoiler.replaced
            try await ground.next(spoiler)
            for _ in 0..<3 { try await ground.stir() }
            idle = spoiler.replaced == before ? idle + 1 : 0
        }
        #expect(
            spoiler.replaced > 8 && spoiler.missed.isEmpty, "\(kind): \(spoiler.replaced), \(spoiler.missed) missed")
        // An unchanged client is served as before.
        ground.device.goOffline()
        try await ground.desk.write("last", by: ground.desk.ann)
        await ground.desk.kit.advance(by: .seconds(60))
        #expect(try ground.desk.texts().last == "last")
    }

    /// Messages that the kit's server has no reason to send.
    @Test(arguments: [
        #"{"t":"err","code":"rate_limited","msg":"slow down","rid":4,"retry_ms":50,"lmid":6}"#,
        #"{"t":"err","code":"gap","msg":"go on","lmid":6}"#,
        #"{"t":"err","code":"unavailable","msg":"later","retry_ms":50}"#,
        #"{"t":"goaway","after_ms":500,"why":"drain"}"#,
        #"{"t":"auth_ok","exp":30}"#,
        #"{"t":"eph","scope":"room","user":"ann","k":"presence","d":{"online":false,"seen":1},"ttl":0}"#,
        #"{"t":"x-later","n":1}"#,
    ])
    func `no number of a rare message traps a client`(_ text: String) async throws {
        let ground = try await Ground()
        let message = Array(text.utf8)
        for number in NumberPlace.all(in: message) {
            for extreme in Spoiler.extremes {
                var changed = message
                changed.replaceSubrange(number.range, with: Array(extreme.utf8))
                ground.desk.kit.loopback.inject(changed, to: ground.device.number)
                try await ground.stir()
                ground.desk.kit.loopback.inject(message, to: ground.device.number)
                await ground.desk.kit.advance(by: .seconds(400))
            }
        }
        try await ground.desk.kit.settle()
        try ground.desk.kit.expectConverged()
    }
}
