import Foundation
public import Tidemark
import TidemarkModel
import TidemarkSequencer

/// The faults of a kit, by name. Faults of pushes are armed for one client and strike its next pushes in their order.
///
///     kit.faults.dropAck(after: .commit, of: ann)
///     try await messages.create(message)
///     try await kit.settle()                       // pushed again; the server has it once
public struct Faults: Sendable {
    let kit: TestKit

    /// Loses the answers to the client's next pushes, and the connection with each.
    public func dropAck(after loss: AckLoss, of client: TestClient, times: Int = 1) {
        kit.loopback.arm(.dropAck(loss), times: times, on: client.number)
    }

    /// Makes the server answer the client's next pushes by closing the connection with a code, such as 4400 for a push
    /// that it cannot serve. After five in a row the write is `failed` until it is retried.
    public func refusePush(of client: TestClient, code: UInt16 = 4400, times: Int = 5) {
        kit.loopback.arm(.answer(code), times: times, on: client.number)
    }

    /// Makes the client's connection drop everything without notifying either side. The client detects it by itself
    /// within a minute, and connects again.
    public func silence(_ client: TestClient) { kit.loopback.silence(client.number) }

    /// Makes the client's next pushes reach the server twice.
    public func duplicate(_ client: TestClient, times: Int = 1) {
        kit.loopback.arm(.duplicate, times: times, on: client.number)
    }

    /// Applies a fault to the client's next calls for blobs, each `times` times, in their order.
    public func blobs(_ fault: BlobFault, of client: TestClient, times: Int = 1) {
        kit.loopback.blobs.arm(fault, times: times, on: client.number)
    }

    /// Ends the client's process at a point of its next push; `TestClient.relaunch()` starts it again.
    public func kill(_ client: TestClient, at point: KillPoint) {
        kit.loopback.arm(.kill(point), times: 1, on: client.number)
    }

    /// Makes the client's clock differ from the kit's by this much, ahead when positive.
    public func clockSkew(_ client: TestClient, by skew: Duration) { client.set(skew: skew) }

    /// Makes the server refuse the client's token at each connection, as after a change of its secret, until it is
    /// called with `false`. An open connection stays.
    public func refuseToken(of client: TestClient, _ isRefused: Bool = true) {
        kit.loopback.set(client.number, isTokenRefused: isRefused)
    }

    /// Makes each commit of the client's database fail until it is called with `false`. Reads still work.
    public func diskFull(_ client: TestClient, _ isFull: Bool = true) { client.set(isDiskFull: isFull) }

    /// Sets the time that each message is on its way, for all clients.
    public func latency(_ latency: Duration) { kit.loopback.set(latency: latency) }

    /// Removes a user from a scope, as an administrator at the server would.
    ///
    /// - Throws: `misused` when no living record opens the scope, or it names no members.
    public func revoke(_ user: UserID, from scope: ScopeID) async throws {
        try await change(scope) { .remove([.string(user.text)]) }
    }

    /// Adds a user to a scope.
    ///
    /// - Throws: as `revoke` does.
    public func grant(_ user: UserID, to scope: ScopeID) async throws {
        try await change(scope) { .add([.string(user.text)]) }
    }

    private func change(_ scope: ScopeID, _ patch: @escaping @Sendable () -> FieldPatch) async throws {
        guard let (key, field) = try opener(of: scope) else {
            throw TestKitError(.misused, "\(scope): no record with members opens this scope")
        }
        let mutation = Mutation(key: key, action: .update([NamedPatch(field, patch())]))
        await kit.executor.run {
            kit.loopback.act { now, server in server.write([mutation], now: now) }
        }
        try await kit.settle()
    }

    /// Returns the record that opens a scope, with the field that names its members.
    private func opener(of scope: ScopeID) throws -> (RecordKey, String)? {
        guard let id = UniqueID(scope.text) else { return nil }
        for collection in kit.schema.collections where collection.scope == .ownRecord {
            guard let field = collection.memberField else { continue }
            let isOpen = try kit.loopback.look { server in
                try server.changes(of: collection.name).contains { $0.key.id == id }
            }
            if isOpen { return (RecordKey(collection: collection.name, id: id), field) }
        }
        return nil
    }
}
