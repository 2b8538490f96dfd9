/// A list of records with what a view needs beside it.
public struct Listing<Model: ShopRecord>: Equatable, Sendable {
    /// What is here; also while more is loading, and the last that was read when an error ended it.
    public var records: [Model]
    /// The first read is not done, or the shop's records are still on their way to this device.
    public var isLoading: Bool
    /// Why reading ended, for a person to read; no other listing follows.
    public var error: String?

    public init(records: [Model] = [], isLoading: Bool = false, error: String? = nil) {
        self.records = records
        self.isLoading = isLoading
        self.error = error
    }
}
