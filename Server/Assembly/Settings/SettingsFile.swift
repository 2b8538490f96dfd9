import Foundation
import TidemarkIdentity
import TidemarkModel

/// A file of settings, JSON: `{ "listen": "0.0.0.0:8080", "limits": { "rate": 200 } }`.
///
/// A member is the option without its dashes, with `_` for `-`. Relative paths in it start at the file's folder. The
/// values become those of the environment, so that one code checks both. An unknown member is refused, since a misspelt
/// one would silently have no effect.
struct SettingsFile: Sendable {
    let path: String
    /// The values by environment variable.
    private(set) var values: [String: String] = [:]
    private var lines: [String: Int] = [:]
    private static let limitsMember = "limits"

    /// - Throws: for a file that cannot be read, or with the line of its first fault.
    init(at path: String) throws(ConfigurationError) {
        guard let contents = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError(.config, "cannot read the file \(path)")
        }
        try self.init(Array(contents).withoutMark, from: path)
    }

    init(_ bytes: [UInt8], from path: String) throws(ConfigurationError) {
        self.path = path
        let document: LocatedJSON
        do {
            document = try LocatedJSON(bytes)
        } catch let error as JSONError {
            throw failure(Self.line(error.offset, bytes), "not JSON: \(error.reason)")
        } catch {
            throw failure(1, "not JSON: \(error)")
        }
        guard case .object(let members) = document.value else {
            throw failure(
                Self.line(document.offset, bytes), "must be an object, such as { \"listen\": \"127.0.0.1:8080\" }")
        }
        for (name, value) in members {
            let line = Self.line(value.offset, bytes)
            if name == Self.limitsMember {
                try takeLimits(value, bytes)
                continue
            }
            guard let setting = Setting.inFiles.first(where: { $0.member == name }) else {
                throw failure(line, Self.refusal(of: name))
            }
            try take(try text(value, setting, line), setting.rawValue, line)
        }
    }

    /// Returns the position of a value in the file: `tidemark.json, line 3, admin_listen`.
    func place(of variable: String) -> String? {
        guard let line = lines[variable] else { return nil }
        return "\(path), line \(line), \(Self.member(of: variable))"
    }

    /// Drops a value that another setting with a higher priority overrides.
    mutating func drop(_ setting: Setting) { values[setting.rawValue] = nil }

    private mutating func take(_ text: String, _ variable: String, _ line: Int) throws(ConfigurationError) {
        guard !text.isEmpty else { return }
        values[variable] = text
        lines[variable] = line
    }

    private mutating func takeLimits(_ value: LocatedJSON, _ bytes: [UInt8]) throws(ConfigurationError) {
        guard case .object(let members) = value.value else {
            throw failure(Self.line(value.offset, bytes), "\"limits\" must be an object, such as { \"rate\": 200 }")
        }
        for (name, value) in members {
            let line = Self.line(value.offset, bytes)
            guard let limit = LimitSetting.all.first(where: { $0.name.lowercased() == name }) else {
                let names = LimitSetting.all.map { $0.name.lowercased() }.joined(separator: ", ")
                throw failure(line, "there is no limit \"\(name)\"; those that exist: \(names)")
            }
            guard case .plain(.integer(let number)) = value.value else {
                throw failure(line, "limits.\(name) must be a whole number: \(limit.meaning)")
            }
            try take("\(number)", limit.variable, line)
        }
    }

    /// Returns the value as the environment would hold it.
    private func text(_ value: LocatedJSON, _ setting: Setting, _ line: Int) throws(ConfigurationError) -> String {
        switch (setting.form, value.value) {
        case (.flag, .plain(.boolean(let isSet))): return isSet ? "true" : "false"
        case (.number, .plain(.integer(let number))): return "\(number)"
        case (.text, .plain(.string(let text))), (.list, .plain(.string(let text))): return text
        case (.path, .plain(.string(let text))): return text.isEmpty ? "" : located(text)
        case (.database, .plain(.string(let text))):
            // The reader of the setting reports an invalid value.
            guard let location = try? DatabaseLocation(text), let path = location.path else { return text }
            return "sqlite:" + located(path)
        case (.list, .array(let elements)):
            var texts: [String] = []
            for element in elements {
                guard case .plain(.string(let text)) = element.value, !text.contains(",") else {
                    throw failure(line, "\(setting.member) must be \(setting.form.words)")
                }
                texts.append(text)
            }
            return texts.joined(separator: ",")
        default: throw failure(line, "\(setting.member) must be \(setting.form.words)")
        }
    }

    private func located(_ text: String) -> String {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        return URL(fileURLWithPath: text, relativeTo: folder).standardizedFileURL.path
    }

    private func failure(_ line: Int, _ reason: String) -> ConfigurationError {
        ConfigurationError("\(path), line \(line)", reason)
    }

    private static func line(_ offset: Int, _ bytes: [UInt8]) -> Int {
        bytes.prefix(offset).count { $0 == UInt8(ascii: "\n") } + 1
    }

    private static func member(of variable: String) -> String {
        guard variable.hasPrefix(LimitSetting.prefix) else { return Setting(rawValue: variable)?.member ?? variable }
        return "\(limitsMember).\(variable.dropFirst(LimitSetting.prefix.count).lowercased())"
    }

    private static func refusal(of name: String) -> String {
        if let secret = [Setting.secret, .cursorKey].first(where: { $0.member == name }) {
            return
                "\"\(name)\" may not be in a file of settings, which has many readers: write it into a file of its own,"
                + " and name that by \"\(secret.member)_file\""
        }
        let names = Setting.inFiles.map(\.member) + [limitsMember]
        return "there is no setting \"\(name)\"; those that exist: \(names.joined(separator: ", "))"
    }
}
