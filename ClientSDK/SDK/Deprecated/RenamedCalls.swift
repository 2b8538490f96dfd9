// The names of calls before the first release; they go with the one after it.
public import Foundation
public import Logging
public import TidemarkModel

extension SyncStore {
    @available(*, deprecated, renamed: "run(connectedTo:transport:logger:token:)")
    public func sync(
        with url: String, transport: any Transport, logger: Logger = Logger(label: "tidemark.sdk"),
        token: @escaping @Sendable () async throws -> String
    ) async throws {
        try await run(connectedTo: url, transport: transport, logger: logger, token: token)
    }

    @available(*, deprecated, renamed: "compareWithServer()")
    public func compare() { compareWithServer() }

    @available(*, deprecated, renamed: "setRetention(_:in:)")
    public func keep(_ retention: ScopeRetention, of scope: ScopeID) async throws {
        try await setRetention(retention, in: scope)
    }

    @available(*, deprecated, renamed: "retention(in:)")
    public func keeping(of scope: ScopeID) async throws -> ScopeRetention { try await retention(in: scope) }

    @available(*, deprecated, renamed: "publishChanges(_:pause:_:)")
    public func keepPublished<Value: Encodable & Equatable & Sendable>(
        _ name: String, pause: Duration = .seconds(1), _ body: @escaping @Sendable (StoreSnapshot) throws -> Value
    ) async throws {
        try await publishChanges(name, pause: pause, body)
    }

    @available(*, deprecated, renamed: "lostRecords()")
    public func rescued() async throws -> [LostRecord] { try await lostRecords() }

    @available(*, deprecated, renamed: "discardLostRecords()")
    public func discardRescued() async throws { try await discardLostRecords() }
}

extension Outbox {
    @available(*, deprecated, renamed: "rejected()")
    public func parked() async throws -> [RejectedTransaction] { try await rejected() }

    @available(*, deprecated, renamed: "stalled()")
    public func failed() async throws -> [StalledTransaction] { try await stalled() }

    @available(*, deprecated, renamed: "retryStalled()")
    public func retryFailed() async throws { try await retryStalled() }
}

extension Repository {
    @available(*, deprecated, renamed: "rejected()")
    public func parked() async throws -> [RejectedEdit<Model>] { try await rejected() }

    @available(*, deprecated, renamed: "observeRejected()")
    public func observeParked() -> LiveValues<[RejectedEdit<Model>]> { observeRejected() }

    @available(*, deprecated, renamed: "olderRecords(in:)")
    public func history(of scope: ScopeID) -> LiveValues<OlderRecords> { olderRecords(in: scope) }
}

extension StoreSnapshot {
    @available(*, deprecated, renamed: "rejected()")
    public func parked() throws -> [RejectedTransaction] { try rejected() }

    @available(*, deprecated, renamed: "rejected(_:)")
    public func parked<Model: SyncModel>(_ model: Model.Type) throws -> [RejectedEdit<Model>] { try rejected(model) }

    @available(*, deprecated, renamed: "rejectedCreations(_:)")
    public func refused<Model: SyncModel>(
        _ model: Model.Type
    ) throws -> [(model: Model, transaction: RejectedTransaction)] {
        try rejectedCreations(model)
    }

    @available(*, deprecated, renamed: "readAll(_:where:order:limit:after:in:)")
    public func models<Model: SyncModel>(
        _ type: Model.Type, where filter: ModelFilter<Model>, order: [ModelOrder<Model>] = [], limit: Int? = nil,
        after model: Model? = nil, in scope: ScopeID? = nil
    ) throws -> [Model] {
        try readAll(type, where: filter, order: order, limit: limit, after: model, in: scope)
    }

    @available(*, deprecated, renamed: "readAll(_:_:_:)")
    public func models<Model: SyncModel>(
        _ type: Model.Type, _ clause: String, _ arguments: [FieldValue] = []
    ) throws -> [Model] {
        try readAll(type, clause, arguments)
    }
}

extension Blobs {
    @available(*, deprecated, renamed: "add(_:in:)")
    @discardableResult
    public func keep(_ bytes: Data, in scope: ScopeID) async throws -> BlobDigest { try await add(bytes, in: scope) }

    @available(*, deprecated, renamed: "observe(_:in:)")
    public func look(at digest: BlobDigest, in scope: ScopeID) -> BlobContents { observe(digest, in: scope) }
}

extension WriteBatch {
    @available(*, deprecated, renamed: "addBlob(_:in:)")
    @discardableResult
    public mutating func keep(_ bytes: Data, in scope: ScopeID) -> BlobDigest { addBlob(bytes, in: scope) }
}

extension RecordConflict {
    @available(*, deprecated, renamed: "resolve(with:of:)")
    @discardableResult
    public func resolve(keeping choice: Choice, of field: String? = nil) async throws -> WriteReceipt {
        try await resolve(with: choice, of: field)
    }
}

extension AccountClient {
    @available(*, deprecated, renamed: "init(workspace:storage:post:)")
    public init(workspace: String? = nil, keeping storage: any SignInStorage, post: @escaping Post) {
        self.init(workspace: workspace, storage: storage, post: post)
    }
}
