/// A setting that the server cannot start with: its name, its fault, and the remedy.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The variable that the value came from, or would have come from.
    package let setting: String
    package let reason: String

    init(_ setting: String, _ reason: String) {
        self.setting = setting
        self.reason = reason
    }

    init(_ setting: Setting, _ reason: String) { self.init(setting.rawValue, reason) }

    package var description: String { "\(setting): \(reason)" }
}
