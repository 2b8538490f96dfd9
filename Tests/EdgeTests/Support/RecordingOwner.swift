import NIOCore
import TidemarkEdge

/// An owner that passes its events to a test, and does what the test wants.
final class RecordingOwner: SocketOwner {
    enum Event: Sendable, Equatable {
        case opened(id: UInt64, token: String?)
        case received(String)
        case writable(Bool)
        case draining
        case closed
    }

    private let events: AsyncStream<Event>.Continuation
    private let reaction: (Socket, Event) -> Void

    init(_ events: AsyncStream<Event>.Continuation, reaction: @escaping (Socket, Event) -> Void = { _, _ in }) {
        self.events = events
        self.reaction = reaction
    }

    func opened(_ socket: Socket) { note(.opened(id: socket.id, token: socket.bearerToken), socket) }
    func received(_ socket: Socket, text: [UInt8]) { note(.received(String(decoding: text, as: UTF8.self)), socket) }
    func writabilityChanged(_ socket: Socket, isWritable: Bool) { note(.writable(isWritable), socket) }
    func draining(_ socket: Socket) { note(.draining, socket) }
    func closed(_ socket: Socket) { note(.closed, socket) }

    private func note(_ event: Event, _ socket: Socket) {
        reaction(socket, event)
        events.yield(event)
    }
}
