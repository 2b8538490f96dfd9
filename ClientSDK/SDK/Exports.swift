// An app that imports the SDK has what its extensions have, `SpoolModel` and `SharedFolder`, and the nouns: Schema,
// FieldValue, ScopeID, UserID, Rejection.
@_exported public import TidemarkExtension
@_exported public import TidemarkModel
