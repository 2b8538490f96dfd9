// The names of types before the first release; they go with the one after it. `deploy/CHANGELOG.md` lists those that
// cannot be expressed here.

@available(*, deprecated, renamed: "RejectedTransaction")
public typealias ParkedTransaction = RejectedTransaction
@available(*, deprecated, renamed: "RejectedEdit")
public typealias ParkedEdit<Model: SyncModel> = RejectedEdit<Model>
@available(*, deprecated, renamed: "StalledTransaction")
public typealias FailedTransaction = StalledTransaction
@available(*, deprecated, renamed: "LostRecord")
public typealias RescuedRecord = LostRecord
@available(*, deprecated, renamed: "LossCounts")
public typealias RewindCounts = LossCounts
@available(*, deprecated, renamed: "ConnectionState")
public typealias SyncPhase = ConnectionState
@available(*, deprecated, renamed: "BlobContent")
public typealias BlobLook = BlobContent
@available(*, deprecated, renamed: "BlobContents")
public typealias BlobLooks = BlobContents
@available(*, deprecated, renamed: "OlderRecords")
public typealias History = OlderRecords
@available(*, deprecated, renamed: "ScopeRetention")
public typealias ScopeKeeping = ScopeRetention
@available(*, deprecated, renamed: "StoredSignIn")
public typealias KeptSignIn = StoredSignIn
@available(*, deprecated, renamed: "SignInStorage")
public typealias SignInKeeping = SignInStorage
