import Hummingbird
import TidemarkHub
import TidemarkModel
import TidemarkNode
import TidemarkOperations
import TidemarkStore

/// The operator's calls for the schema of the whole server.
extension API {
    /// `GET /v1/schema`: the document in force, with its revision and requirement.
    func schemaInForce(for identity: Identity) async throws -> Response {
        try requireOperator(identity)
        guard let revision = try await node.schemas.revision(after: 0) else {
            throw APIError(.notFound, "not_found", "no schema is in force on this server")
        }
        var writer = JSONWriter(capacity: revision.document.count + 256)
        writer.integer("{\"revision\":", revision.number)
        writer.integer(",\"applied\":", revision.applied)
        writer.string(",\"min_app\":", revision.requirement.description)
        writer.string(",\"note\":", revision.note)
        writer.string(",\"document\":", String(decoding: revision.document, as: UTF8.self))
        writer.byte(UInt8(ascii: "}"))
        return Response(json: writer.bytes)
    }

    /// `POST /v1/schema`: puts a document in force while clients are connected, or returns what that would change.
    func applySchema(_ request: Request, of identity: Identity) async throws -> Response {
        try requireOperator(identity)
        let bytes = try await body(of: request)
        do {
            let call = try SchemaCall(decoding: bytes)
            guard let before = try await node.schemas.revision(after: 0) else {
                throw SchemaRefusal(.invalid, "no schema is in force on this server")
            }
            var plan = try SchemaPlan(call, on: before, now: node.now())
            if call.isDryRun {
                try await count(&plan)
                return Response(json: plan.encode(isApplied: false))
            }
            guard plan.changesAnything else { return Response(json: plan.encode(isApplied: false)) }
            try plan.check(call)
            let act = OperatorAct(
                call.document == nil ? .appMinimum : .schemaApply, by: identity.principal.user.text, at: node.now(),
                argument: "revision \(plan.next.number)" + (call.requirement.map { ", min_app \($0)" } ?? ""),
                reason: call.note)
            let next = plan.next
            try await keeping(act) {
                guard try await node.schemas.keep(next) else {
                    throw SchemaRefusal(
                        .moved, "another schema has come into force meanwhile: check what it changes, and try again")
                }
                try node.adopt(next)
            }
            return Response(json: plan.encode(isApplied: true))
        } catch let refusal as SchemaRefusal {
            let status = refusal.code == .invalid ? HTTPResponse.Status.badRequest : .conflict
            throw APIError(status, refusal.code.rawValue, refusal.description)
        }
    }

    /// Counts records step by step, between the reads of clients, for a bounded time.
    private func count(_ plan: inout SchemaPlan) async throws {
        let begun = node.now()
        let fields = plan.fields
        plan.apps = try await node.schemas.apps(
            seenAfter: begun - SchemaPlan.unseenMax, limit: SchemaPlan.appsMax)
        var counted = RecordCount()
        repeat {
            let place = counted.next
            counted.add(
                try await node.readGate.pass { () async throws(StoreError) -> RecordCount in
                    try await node.schemas.count(fields, from: place)
                })
        } while counted.next != nil && node.now() - begun < node.limits.schemaCountMax
        plan.isCountedThrough = counted.next == nil
        plan.counted = counted
    }

    /// Requires an operator. A service token of one workspace is not enough, because the schema is shared by all.
    func requireOperator(_ identity: Identity) throws(APIError) {
        guard identity.isOperator else {
            throw APIError(
                .forbidden, "forbidden",
                "this call requires an operator's token (\"op\": true): make one with 'tidemark token --operator'")
        }
    }
}
