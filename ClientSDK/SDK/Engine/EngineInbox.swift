import TidemarkLock
import TidemarkModel
import TidemarkWire

/// The events that wait for the engine's loop: what the app asks for, and what the network and the clocks deliver.
///
/// Requests of the app never wait. Any number of them become few events, and none is lost. Everything else waits until
/// the loop takes it: a slow disk therefore slows the server's sending.
final class EngineInbox: Sendable {
    /// An event of a connection, a clock or the app's sign-in, and the attempt that it belongs to if there is one.
    struct Delivery: Sendable {
        let event: SyncEvent
        let attempt: UInt64?
    }

    private struct State {
        var requests: AppRequests?
        var deliveries: [(delivery: Delivery, taken: CheckedContinuation<Void, Never>)] = []
        var loop: CheckedContinuation<Void, Never>?
        var isClosed = false

        mutating func takeLoop() -> CheckedContinuation<Void, Never>? {
            defer { loop = nil }
            return loop
        }
    }

    private let state = Lock(State())

    /// The number of deliveries that wait for the loop.
    var waiting: Int { state.withLock { $0.deliveries.count } }

    /// Leaves a request of the app; never blocks.
    func post(_ event: SyncEvent) {
        let loop = state.withLock { state in
            state.requests = state.requests ?? AppRequests()
            state.requests?.add(event)
            return state.takeLoop()
        }
        loop?.resume()
    }

    /// Waits until the loop has taken the event, or is over.
    func deliver(_ event: SyncEvent, of attempt: UInt64? = nil) async {
        await withCheckedContinuation { taken in
            let (isClosed, loop) = state.withLock { state in
                guard !state.isClosed else { return (true, nil as CheckedContinuation<Void, Never>?) }
                state.deliveries.append((Delivery(event: event, attempt: attempt), taken))
                return (false, state.takeLoop())
            }
            if isClosed { taken.resume() }
            loop?.resume()
        }
    }

    /// Waits for events. Returns the deliveries in their order, and then the requests in the order in which the machine
    /// needs them: a write is not sent over a connection whose end has been delivered. Returns `nil` when the task is
    /// cancelled. For the loop alone.
    func next() async -> [Delivery]? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { loop in
                let isToWait = state.withLock { state in
                    guard !Task.isCancelled, state.requests == nil, state.deliveries.isEmpty else { return false }
                    state.loop = loop
                    return true
                }
                if !isToWait { loop.resume() }
            }
        } onCancel: {
            state.withLock { $0.takeLoop() }?.resume()
        }
        guard !Task.isCancelled else { return nil }
        let (requests, deliveries) = state.withLock { state in
            defer { (state.requests, state.deliveries) = (nil, []) }
            return (state.requests?.events ?? [], state.deliveries)
        }
        for delivery in deliveries { delivery.taken.resume() }
        return deliveries.map(\.delivery) + requests.map { Delivery(event: $0, attempt: nil) }
    }

    /// Ends the waits of deliveries: nothing takes them any more.
    func close() {
        let waiting = state.withLock { state in
            defer { (state.deliveries, state.isClosed) = ([], true) }
            return state.deliveries
        }
        for delivery in waiting { delivery.taken.resume() }
    }
}
