// An app that imports the SDK has the nouns: Schema, FieldValue, ScopeID, UserID, Rejection.
@_exported public import TidemarkModel
// What its extensions have: `SpoolModel`, `SharedFolder`.
@_exported public import TidemarkExtension
