// The names before the first release; they go with the one after it.

extension TestKitLimits {
    @available(*, deprecated, renamed: "maxSettle")
    public var settleMax: Duration {
        get { maxSettle }
        set { maxSettle = newValue }
    }
    @available(*, deprecated, renamed: "maxDifferences")
    public var differencesMax: Int {
        get { maxDifferences }
        set { maxDifferences = newValue }
    }
}
