import Foundation
import TidemarkModel
import TidemarkWire

extension SyncStore {
    /// Returns the account's devices: this one first, then the others, the last seen first. Asks the server; the store
    /// must be connecting (``connect(to:transport:logger:token:)``).
    ///
    ///     for device in try await store.devices() where !device.isThisDevice { print(device.lastSeenAt) }
    ///
    /// - Throws: ``DeviceError``.
    public func devices() async throws -> [SyncDevice] {
        let caller = try await database.registeredClient()?.description
        var devices: [SyncDevice] = []
        var place: UniqueID?
        repeat {
            let answer = try await call(.get) { client in
                let members = [("after", place), ("client", client)].compactMap { name, id in id.map { "\(name)=\($0)" }
                }
                return "/v1/devices" + (members.isEmpty ? "" : "?" + members.joined(separator: "&"))
            }
            let page: DevicesAnswer
            do throws(WireError) { page = try DevicesAnswer.decode([UInt8](answer.body)) } catch {
                throw DeviceError(.unavailable, "the server's list of devices is invalid: \(error)")
            }
            devices += page.devices.map { SyncDevice($0, of: caller) }
            // A page that does not advance would be requested forever.
            let next = page.devices.last?.id
            guard page.hasMore, let next, place.map({ next > $0 }) ?? true, devices.count < Self.devicesMax else {
                break
            }
            place = next
        } while true
        return devices.sorted { one, other in
            (one.isThisDevice ? 0 : 1, other.lastSeenAt, one.id) < (
                other.isThisDevice ? 0 : 1, one.lastSeenAt, other.id
            )
        }
    }

    /// Signs a device of the account out. Within a second, its present tokens neither receive nor fetch anything. The
    /// data on its disk stays. End its session at the sign-in service as well, or it gets a new token.
    ///
    /// - Parameter device: the device's ``SyncDevice/id``.
    /// - Throws: ``DeviceError``, with `notThere` for a device that is not one of the account's.
    public func signOut(device: SyncDevice.ID) async throws {
        guard let client = UniqueID(device) else { throw DeviceError(.notThere, "\"\(device)\" is no device's id") }
        try await revoke(["client": .string(client.description)])
    }

    /// Signs all devices of the account out, including this one. The app then needs a token that is issued after this
    /// call.
    ///
    /// - Throws: ``DeviceError``.
    public func signOutEverywhere() async throws { try await revoke(["user": .string(account.text)]) }

    private func revoke(_ members: Fields) async throws {
        _ = try await call(.post(Data(members.canonicalBytes))) { client in
            "/v1/revocations" + (client.map { "?client=\($0)" } ?? "")
        }
    }

    private static let maxAnswerBytes = 1_048_576
    /// The longest time of one exchange: a person waits for it.
    private static let exchangeMax = Duration.seconds(30)
    /// More devices than a server keeps for one account.
    private static let devicesMax = 10_000

    private func call(_ call: HTTPCall.Call, _ target: (ClientID?) -> String) async throws -> HTTPAnswer {
        guard let calls = couriers.current?.calls else {
            throw DeviceError(.offline, "the store is not connected: call connect first")
        }
        let answer: HTTPAnswer
        do {
            answer = try await calls.exchange(
                call, maxAnswerBytes: Self.maxAnswerBytes, within: Self.exchangeMax, target)
        } catch is HTTPUnsupported {
            throw DeviceError(.unsupported, "the transport carries no calls")
        } catch {
            throw DeviceError(.offline, String("\(error)".prefix(500)))
        }
        let words = "\(answer.status) " + String(decoding: answer.body.prefix(500), as: UTF8.self)
        switch answer.status {
        case 200...299: return answer
        case 401: throw DeviceError(.unauthenticated, words)
        // An older server lists devices for its operator only.
        case 403, 405, 501: throw DeviceError(.unsupported, words)
        case 404: throw DeviceError(.notThere, words)
        case 429: throw DeviceError(.busy, words)
        default: throw DeviceError(.unavailable, words)
        }
    }
}
