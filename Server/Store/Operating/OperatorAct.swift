package import TidemarkModel

/// A change that an operator has made or begun: who, what, why, and with which result.
package struct OperatorAct: Hashable, Sendable {
    /// The kinds of acts, as they are stored and reported.
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
        /// A kind that a later version added.
        case other
    }

    /// Counts the acts of the database; 0 for one that is not stored yet.
    package var number: Int64 = 0
    /// The time at which the act began.
    package var time: Milliseconds
    /// The name of the token that authorised the request, or the system's user at a shell.
    package var who: String
    package var kind: Kind
    /// `nil` for an act on all workspaces.
    package var workspace: WorkspaceID?
    /// The affected user, in a column of its own, which is emptied when the user is erased.
    package var user: UserID?
    /// Further arguments: a device, a scope, a version.
    package var argument: String
    /// The operator's reason; empty if none was given.
    package var reason: String
    /// `done`, or the error; `nil` while the act is under way, and for one that was interrupted.
    package var outcome: String?

    /// - Parameters: texts that exceed a column's limit are cut.
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

    /// The maximum number of bytes of `who`.
    package static let nameBytesMax = 128
    /// The maximum number of bytes of each of argument, reason and outcome.
    package static let textBytesMax = 512
    /// The maximum number of acts that are kept; older ones are deleted.
    package static let keptMax: Int64 = 100_000
    /// The outcome of a successful act.
    package static let done = "done"
}

/// The log of operators' changes, for the whole database.
package protocol ActLog: Sendable {
    /// Records that an act begins, before it does: an interrupted act remains visible.
    ///
    /// - Returns: its number, above all others.
    func begin(_ act: OperatorAct) async throws(StoreError) -> Int64

    /// Records the outcome of an act.
    func end(_ number: Int64, _ outcome: String) async throws(StoreError)

    /// Returns acts with a number below `number`, the newest first, at most `limit`.
    func acts(before number: Int64, limit: Int) async throws(StoreError) -> [OperatorAct]
}

extension ActLog {
    /// Runs `body` between recording its begin and its outcome.
    ///
    /// - Throws: the error of `body`, which is recorded. Also when the begin cannot be recorded: then `body` is not
    ///   run.
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
