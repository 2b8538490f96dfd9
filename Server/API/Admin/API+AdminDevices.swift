import Hummingbird
import TidemarkHub
import TidemarkModel
import TidemarkNode
import TidemarkStore

/// Devices: which there are, what one is stuck on, and signing them out.
extension API {
    /// `GET /admin/v1/devices?workspace=&user=&after=&limit=`, in the order of their ids.
    func adminDevices(_ query: AdminQuery) async throws -> Fields {
        let workspace = try query.required("workspace", try query.workspace())
        let (user, place) = (try query.user(), try query.id("after") { UniqueID($0) })
        let limit = try query.limit(100, max: 500)
        let devices = try await node.readGate.pass { () async throws(StoreError) -> [Device] in
            try await node.revocationStore.devices(of: user, in: workspace, after: place, limit: limit)
        }
        var answer = Fields()
        answer.put("devices", devices.map { fields(of: $0, in: workspace) })
        answer.put("more", devices.count == limit)
        return answer
    }

    func fields(of device: Device, in workspace: WorkspaceID) -> Fields {
        var fields: Fields = [
            "id": .string(device.id.description), "user": .string(device.user.text),
            "registered": .integer(device.registered), "seen": .integer(max(device.seen, device.registered)),
            "settled": .integer(device.settledThrough), "acked": .integer(device.ackedThrough),
        ]
        fields.put("app", device.app)
        fields.put("revoked", node.revocations.notBefore(of: device.id, user: device.user, in: workspace))
        fields.put("connected", node.connectionCounts.isConnected(.init(workspace: workspace, client: device.id)))
        return fields
    }

    /// `POST /admin/v1/revocations`: as the call for clients, with `workspace` and `why`.
    func adminRevoke(_ bytes: [UInt8], by name: String) async throws -> Response {
        let call = try revocationCall(bytes)
        guard let workspace = call.workspace else {
            throw APIError(.badRequest, "invalid", "revocation: \"workspace\" is missing")
        }
        return try await revoke(call, in: workspace, as: .operator(name))
    }
}
