import Hummingbird
import TidemarkHub
import TidemarkModel
import TidemarkNode
import TidemarkStore
import TidemarkWire

/// Devices: which there are, what one is stuck on, and signing them out.
extension API {
    /// `GET /admin/v1/devices?workspace=&user=&after=&limit=`, in the order of their ids.
    func adminDevices(_ query: AdminQuery) async throws -> Fields {
        let workspace = try query.required("workspace", try query.workspace())
        let (user, place) = (try query.user(), try query.id("after") { UniqueID($0) })
        let limit = try query.limit(100, max: 500)
        let stored = try await node.readGate.pass { () async throws(StoreError) -> [Device] in
            try await node.revocationStore.devices(of: user, in: workspace, after: place, limit: limit)
        }
        // Where a user's are connected, all servers are asked; of a whole workspace it is what this one knows.
        let sights = user == nil ? nil : try await node.sights(of: stored.map(\.id), in: workspace)
        let devices = try await node.listed(stored, sights, in: workspace)
        var answer = Fields()
        answer.put("devices", devices.map(\.fields))
        answer.put("more", devices.count == limit)
        if let sights { answer.put(sights) }
        return answer
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
