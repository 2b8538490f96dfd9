import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import TidemarkHub
import TidemarkModel
import TidemarkNode
import TidemarkStore
import TidemarkWire

/// The calls for blobs (PROTOCOL.md, "Blobs").
extension API {
    private var blobs: BlobService { node.blobs }

    /// `PUT`: 201 when the blob is kept, 200 when this scope already had it.
    ///
    /// Access is judged before a byte is read and again when all have arrived, so that a user who lost the scope
    /// meanwhile leaves nothing in it.
    func putBlob(_ request: Request, _ context: APIContext, of identity: Identity) async throws -> Response {
        let (address, bytesMax) = try address(context, request)
        let device = try await claim(address.client, of: identity)
        guard !node.isDraining else {
            throw APIError.busy(.serviceUnavailable, .draining, "the server is stopping", retryAfter: retry)
        }
        guard let length = request.headers[.contentLength] else { throw BlobRefusal.lengthRequired }
        // A number that does not fit is too large: the parser rejects everything else.
        guard let announced = Int(length), announced <= bytesMax else { throw BlobRefusal.tooLarge(bytesMax: bytesMax) }
        let slot = try slot(blobs.uploads, blobs.uploadRates, "upload", identity)
        defer { withExtendedLifetime(slot) {} }
        try await requirePut(address.scope, identity)
        let blob = try await receive(request, announced: announced)
        guard blob.digest == address.digest else { throw BlobRefusal.otherDigest }
        try await requirePut(address.scope, identity)
        try requireUnrevoked(identity, device)
        let receipt = try await blobs.writeGate.pass(for: identity.workspace) {
            () async throws(StoreError) -> BlobReceipt in
            try await blobs.store.put(
                blob, in: address.scope, of: identity.workspace, by: identity.principal.user, now: node.now())
        }
        guard receipt != .quotaUsedUp else { throw BlobRefusal.quotaUsedUp }
        blobs.note { counts in
            counts.puts += 1
            counts.bytesIn += Int64(announced)
        }
        var writer = JSONWriter(capacity: 112)
        writer.string("{\"digest\":", blob.digest.text)
        writer.integer(",\"size\":", Int64(announced))
        writer.byte(UInt8(ascii: "}"))
        return Response(json: writer.bytes, status: receipt == .kept ? .created : .ok)
    }

    /// `GET`, or `HEAD` if `isLook`.
    func getBlob(
        _ request: Request, _ context: APIContext, of identity: Identity, isLook: Bool
    ) async throws -> Response {
        let (address, _) = try address(context, request)
        let device = try await claim(address.client, of: identity)
        let slot = try slot(blobs.downloads, blobs.downloadRates, "download", identity)
        let workspace = identity.workspace
        guard
            node.context.mayGetBlobs(in: address.scope, identity.principal, grants: try await grants(of: identity)),
            let size = try await blobs.store.size(of: address.digest, in: address.scope, of: workspace)
        else { throw BlobRefusal.notFound }
        let tag = "\"\(address.digest)\""
        var fields: HTTPFields = [
            .contentType: "application/octet-stream", .contentLength: "\(size)", .eTag: tag,
            .cacheControl: "private, max-age=31536000, immutable", .acceptRanges: "bytes",
        ]
        fields[.xContentTypeOptions] = "nosniff"
        if let known = request.headers[.ifNoneMatch], Self.names(known, tag) {
            return Response(status: .notModified, headers: fields)
        }
        guard !isLook else { return Response(status: .ok, headers: fields) }
        var (status, wanted) = (HTTPResponse.Status.ok, 0..<size)
        // With another blob's tag, the whole blob is requested.
        let field = request.headers[.ifRange].map { $0 == tag } ?? true ? request.headers[.range] : nil
        switch ByteRange(field, of: size) {
        case .all: break
        case .part(let range):
            (status, wanted) = (.partialContent, range)
            fields[.contentLength] = "\(range.count)"
            fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
        case .unsatisfiable:
            var error = APIError(.rangeNotSatisfiable, "invalid", "blob: the range begins after the end")
            error.fields[.contentRange] = "bytes */\(size)"
            throw error
        }
        blobs.note { $0.gets += 1 }
        let body = ResponseBody(contentLength: wanted.count) { [blobs, node, wanted, logger = context.logger] writer in
            defer { withExtendedLifetime(slot) {} }
            var offset = Blob.partStart(of: wanted.lowerBound)
            while offset < wanted.upperBound {
                let part: [UInt8]?
                do {
                    part = try await blobs.part(of: address, from: offset, in: workspace)
                } catch {
                    // The head is already sent: the only way to report the error is to end the connection.
                    logger.warning("A blob was cut short by the store", metadata: ["error": "\(error)"])
                    throw error
                }
                // A user who is signed out during the transfer gets no more bytes; the end of the connection shows it.
                if let revoked = node.revocations.judge(identity, device) {
                    throw APIError.unauthenticated(revoked.reason)
                }
                guard let part, !part.isEmpty else { throw StoreError(.invariant, "a part of a blob is missing") }
                let sent = part.dropFirst(max(0, wanted.lowerBound - offset)).prefix(
                    wanted.upperBound - max(offset, wanted.lowerBound))
                try await writer.write(ByteBuffer(bytes: sent))
                offset += part.count
                blobs.note { $0.bytesOut += Int64(sent.count) }
            }
            try await writer.finish(nil)
        }
        return Response(status: status, headers: fields, body: body)
    }

    /// Counts the refusals of a call for blobs.
    func noted(_ call: () async throws -> Response) async throws -> Response {
        do {
            return try await call()
        } catch let refusal as BlobRefusal {
            blobs.note { $0.refusals[refusal.status, default: 0] += 1 }
            throw APIError(.init(code: refusal.status), refusal.code, refusal.message)
        } catch let error as APIError {
            blobs.note { $0.refusals[error.status.code, default: 0] += 1 }
            throw error
        }
    }

    /// Returns the call's blob and scope, and the largest size of a blob; 404 if the server keeps no blobs.
    private func address(_ context: APIContext, _ request: Request) throws -> (BlobAddress, bytesMax: Int) {
        guard let bytesMax = node.context.limits.blobBytesMax else {
            throw APIError(.notFound, "not_found", "no such address")
        }
        let digest = context.parameters.get("digest") ?? ""
        return (try BlobAddress(digest: digest, query: request.uri.query), bytesMax)
    }

    private func slot(
        _ slots: TransferSlots, _ rates: RateBook<Caller>, _ transfer: String, _ identity: Identity
    ) throws(APIError) -> TransferSlots.Slot {
        let caller = Caller(workspace: identity.workspace, user: identity.principal.user)
        if let wait = rates.take(1, for: caller, now: node.now()) {
            let message = "blob: too many \(transfer)s in a short time"
            throw .busy(.tooManyRequests, .rateLimited, message, retryAfter: wait)
        }
        guard let slot = slots.take(for: caller) else {
            let message = "blob: too many \(transfer)s at once"
            throw .busy(.tooManyRequests, .rateLimited, message, retryAfter: retry)
        }
        return slot
    }

    private func grants(of identity: Identity) async throws(StoreError) -> [Grant] {
        try await node.store.session(for: identity.principal.user, client: nil, in: identity.workspace).grants
    }

    private func requirePut(_ scope: ScopeID, _ identity: Identity) async throws {
        guard node.context.mayPutBlobs(in: scope, identity.principal, grants: try await grants(of: identity)) else {
            throw BlobRefusal.notFound
        }
    }

    private func receive(_ request: Request, announced: Int) async throws -> Blob {
        var upload = BlobUpload(announced: announced)
        for try await part in request.body {
            guard upload.append(part) else { throw BlobRefusal.malformed("more bytes than Content-Length says") }
        }
        guard let blob = upload.blob else { throw BlobRefusal.malformed("fewer bytes than Content-Length says") }
        return blob
    }

    /// Whether a list of entity tags, or `*`, names this one.
    private static func names(_ list: String, _ tag: String) -> Bool {
        list.split(separator: ",").contains { element in
            let element = element.drop { $0 == " " || $0 == "\t" }
            return element == "*" || element.hasPrefix(tag) || element.hasPrefix("W/" + tag)
        }
    }

    private var retry: Int64 { node.context.timing.retry }
}

extension BlobService {
    fileprivate func part(
        of address: BlobAddress, from start: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> [UInt8]? {
        try await readGate.pass(for: workspace) { () async throws(StoreError) -> [UInt8]? in
            try await store.part(of: address.digest, from: start, in: address.scope, of: workspace)
        }
    }
}
