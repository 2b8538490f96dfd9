import Hummingbird
import TidemarkHub
import TidemarkModel
import TidemarkNode
import TidemarkStore
import TidemarkWire

/// Devices: listing them, finding what one is stuck on, and signing them out.
extension API {
    /// `GET /admin/v1/devices?workspace=&user=&after=&limit=`, in the order of their ids.
    func adminDevices(_ query: AdminQuery) async throws -> Fields {
        let workspace = try query.required("workspace", try query.workspace())
        let (user, place) = (try query.user(), try query.id("after") { UniqueID($0) })
        let limit = try query.limit(100, max: 500)
        let (devices, sights) = try await listedByAll(of: user, in: workspace, after: place, limit: limit)
        var answer = Fields()
        answer.put("devices", devices.map(\.fields))
        answer.put("more", devices.count == limit)
        answer.put(sights)
        return answer
    }

    /// Returns a page of devices as all servers know them. The wait for the other servers holds no turn at the store.
    func listedByAll(
        of user: UserID?, in workspace: WorkspaceID, after place: ClientID?, limit: Int
    ) async throws -> ([ListedDevice], DeviceSights) {
        let stored = try await node.readGate.pass(for: workspace) { () async throws(StoreError) -> [Device] in
            try await node.operating.devices(of: user, in: workspace, after: place, limit: limit)
        }
        let sights = try await node.sights(of: stored.map(\.id), in: workspace)
        return (try await node.listed(stored, sights, in: workspace), sights)
    }

    /// `POST /admin/v1/revocations`: like the call for clients, with `workspace` and `why`.
    func adminRevoke(_ bytes: [UInt8], by name: String) async throws -> Response {
        let call = try revocationCall(bytes)
        guard let workspace = call.workspace else {
            throw APIError(.badRequest, "invalid", "revocation: \"workspace\" is missing")
        }
        return try await revoke(call, in: workspace, as: .operator(name))
    }
}
