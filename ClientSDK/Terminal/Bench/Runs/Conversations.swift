import NIOCore
import TidemarkCommandLine
import TidemarkModel
import TidemarkWire

/// Creates conversations at the server, as an additional client, for the start of a run.
final class Conversations: LoadPeer {
    /// The members of one conversation.
    struct Plan: Sendable {
        let id: LocalID
        let members: [String]
    }

    /// The user who creates them.
    static let owner = "bench-owner"

    private let greeting: Hello
    private let plans: [Plan]
    private let promise: EventLoopPromise<Void>

    private init(_ greeting: Hello, _ plans: [Plan], _ promise: EventLoopPromise<Void>) {
        self.greeting = greeting
        self.plans = plans
        self.promise = promise
    }

    /// Creates the conversations of `plans` and returns when they are committed.
    static func make(_ plans: [Plan], at target: LoadTarget) async throws {
        let ground = target.ground
        let hello = try target.hello(owner)
        try await ground.wait(for: "making conversations", atMost: .seconds(30)) { promise in
            let socket = ground.open(Conversations(hello, plans, promise))
            let bound = NIOLoopBound(socket, eventLoop: ground.loop)
            promise.futureResult.whenComplete { _ in bound.value.cut() }
        }
    }

    func hello() -> [UInt8] { ClientMessage.hello(greeting).encode() }

    func welcomed(_ bytes: UnsafeRawBufferPointer, on socket: LoadSocket) {
        let now = wallClock()
        let entries = plans.map { plan in
            let fields: Fields = [
                "kind": "group",
                "participantIds": .array(([Self.owner] + plan.members).map { .string($0) }),
            ]
            let mutation = Mutation(key: RecordKey(collection: "conversations", id: plan.id), action: .create(fields))
            return Push.Entry(Transaction(id: LoadTarget.newClient(), mutations: [mutation], clientTime: now))
        }
        var first: Int64 = 1
        // Member lists are long: few fit in a push, so that none exceeds the size of a message.
        for start in stride(from: 0, to: entries.count, by: 100) {
            let piece = Array(entries[start..<min(start + 100, entries.count)])
            let push = Push(first: first, ackedThrough: 0, entries: piece)
            first += Int64(piece.count)
            socket.send { $0.writeBytes(ClientMessage.push(push).encode()) }
        }
    }

    func changed(_ bytes: UnsafeRawBufferPointer, on socket: LoadSocket) {
        guard let through = FrameMark.settled.number(in: bytes), through >= plans.count else {
            return
        }
        promise.succeed()
    }

    func failed(_ reason: String, on socket: LoadSocket) { promise.fail(BenchError("making conversations: \(reason)")) }
}
