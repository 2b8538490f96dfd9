/// A value that the server cannot start with: which, what is wrong with it, and what to do.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The variable that the value came from, or would come from.
    package let setting: String
    package let reason: String

    init(_ setting: String, _ reason: String) {
        self.setting = setting
        self.reason = reason
    }

    init(_ setting: Setting, _ reason: String) { self.init(setting.rawValue, reason) }

    package var description: String { "\(setting): \(reason)" }
}
