/// An amount in the smallest unit of its currency: cents, pence, yen. It is written as one value, so that amount and
/// currency of two writers never mix; it is never a floating-point number.
public struct Money: Codable, Hashable, Sendable {
    public var minorUnits: Int64
    /// ISO 4217, e.g. `EUR`.
    public var currency: String

    public init(minorUnits: Int64, currency: String) {
        self.minorUnits = minorUnits
        self.currency = currency
    }

    /// Returns the sum; `nil` for two currencies and for sums beyond 64 bits.
    public func adding(_ other: Money) -> Money? {
        let (sum, overflow) = minorUnits.addingReportingOverflow(other.minorUnits)
        return overflow || currency != other.currency ? nil : Money(minorUnits: sum, currency: currency)
    }
}
