// The names before 0.1.0; they go with the next release.

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
