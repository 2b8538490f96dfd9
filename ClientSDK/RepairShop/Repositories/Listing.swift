/// A list of records with the state that a view needs.
public struct Listing<Model: ShopRecord>: Equatable, Sendable {
    /// The records on this device; also while more are loading, and the last ones when an error ended the list.
    public var records: [Model]
    /// True before the first read, and while the shop's records are still arriving on this device.
    public var isLoading: Bool
    /// The error that ended the list, as text for people; no other listing follows.
    public var error: String?

    public init(records: [Model] = [], isLoading: Bool = false, error: String? = nil) {
        self.records = records
        self.isLoading = isLoading
        self.error = error
    }
}
