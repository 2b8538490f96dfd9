/// How concurrent writes of one field are settled; the raw value is the name in a schema file.
///
/// The server applies patches in the order in which it accepts them, so a rule never needs a clock.
public enum MergeRule: String, Sendable, Hashable, CaseIterable {
    /// The last accepted write stands.
    case lww
    /// Set at creation, never changed.
    case immutable
    /// A set that only grows.
    case set
    /// A set whose elements are added and removed one by one; the last word on each element stands.
    case elements
    /// A map whose keys are set and removed one by one; the last word on each key stands.
    case keys
    /// A number that is added to; every accepted increment counts once.
    case counter
    /// The largest value written stands.
    case max
    /// A write that has not seen the value that it would replace is refused with `conflict`, for the app to resolve.
    case manual
    /// Only a service principal writes it.
    case server
}
