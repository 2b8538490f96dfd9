// An app that imports the SDK also gets the API of its extensions, `RecordModel` and `SharedFolder`, and the nouns:
// Schema, FieldValue, ScopeID, UserID, Rejection.
@_exported public import TidemarkExtension
@_exported public import TidemarkModel
