package import TidemarkModel

/// Something that an operator has changed, or has begun to: who, what, why, and what became of it.
package struct OperatorAct: Hashable, Sendable {
    /// What kinds of acts there are, as they are stored and told.
    package enum Kind: String, Sendable, CaseIterable {
        case revoke
        case purge
        case schemaApply = "schema_apply"
        case appMinimum = "min_app"
        case compact
        case eraseScope = "erase_scope"
        case eraseUser = "erase_user"
        case eraseWorkspace = "erase_workspace"
        case account
        /// Of a later version.
        case other
    }

    /// Counts the acts of the database; 0 for one that is not kept yet.
    package var number: Int64 = 0
    /// When it began.
    package var time: Milliseconds
    /// The name of the token that it was asked for by, or the system's user at a shell.
    package var who: String
    package var kind: Kind
    /// `nil` for what concerns all of them.
    package var workspace: WorkspaceID?
    /// Whom it concerns, in a column of its own: it goes when the user is erased.
    package var user: UserID?
    /// What else it was told: a device, a scope, a version.
    package var argument: String
    /// As the operator says; empty where nothing was said.
    package var reason: String
    /// `done`, or why not; `nil` while it goes on, and for one that was cut short.
    package var outcome: String?

    /// - Parameters: texts that are longer than a row has room for are cut.
    package init(
        _ kind: Kind, by who: String, at time: Milliseconds, in workspace: WorkspaceID? = nil, user: UserID? = nil,
        argument: String = "", reason: String = ""
    ) {
        self.kind = kind
        self.who = who.excerpt(bytes: Self.nameBytesMax)
        self.time = time
        self.workspace = workspace
        self.user = user
        self.argument = argument.excerpt(bytes: Self.textBytesMax)
        self.reason = reason.excerpt(bytes: Self.textBytesMax)
    }

    /// Of whoever acts.
    package static let nameBytesMax = 128
    /// Of each of argument, reason and outcome.
    package static let textBytesMax = 512
    /// So many acts are kept; older ones go.
    package static let keptMax: Int64 = 100_000
    /// The outcome of one that was done.
    package static let done = "done"
}

/// Where it is kept what operators have changed, for the whole database. A ``Store`` may be one as well.
package protocol ActLog: Sendable {
    /// Writes down that an act begins, before it does: one that is cut short can be seen.
    ///
    /// - Returns: its number, above all others.
    func begin(_ act: OperatorAct) async throws(StoreError) -> Int64

    /// Writes down what became of it.
    func end(_ number: Int64, _ outcome: String) async throws(StoreError)

    /// Those with a number below `number`, the newest first, at most `limit`.
    func acts(before number: Int64, limit: Int) async throws(StoreError) -> [OperatorAct]
}

extension ActLog {
    /// Does something between the two lines that are kept of it.
    ///
    /// - Throws: what `body` throws, which is written down; also when the first line cannot be kept: then nothing is done.
    package func keeping<Value>(_ act: OperatorAct, _ body: () async throws -> Value) async throws -> Value {
        let number = try await begin(act)
        let value: Value
        do {
            value = try await body()
        } catch {
            try await end(number, "\(error)".excerpt(bytes: OperatorAct.textBytesMax))
            throw error
        }
        try await end(number, OperatorAct.done)
        return value
    }
}
