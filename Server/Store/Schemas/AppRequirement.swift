/// The version of an app as dotted numbers: `2.4`, `2.4.1`. Missing numbers are 0, so `2.4` and `2.4.0` are equal.
///
///     AppVersion("2.10")! > AppVersion("2.9.3")!
package struct AppVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// At most four numbers, without zeros at the end.
    private let numbers: [UInt64]
    /// The text of the version.
    package let description: String

    private static let numbersMax = 4

    /// Reads the digits and dots at the beginning of a text, up to four numbers. The rest is ignored, and a number that
    /// is too large is read as the largest.
    ///
    /// - Returns: `nil` for a text that does not begin with a digit.
    package init?(_ text: some StringProtocol) {
        var numbers: [UInt64] = []
        var written: [Substring.UTF8View.Element] = []
        var digits: [UInt8] = []
        for byte in text.utf8 {
            if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
                digits.append(byte)
                continue
            }
            guard byte == UInt8(ascii: "."), !digits.isEmpty, numbers.count < Self.numbersMax - 1 else { break }
            numbers.append(Self.number(digits))
            written += digits + [byte]
            digits = []
        }
        if !digits.isEmpty {
            numbers.append(Self.number(digits))
            written += digits
        } else if written.last == UInt8(ascii: ".") {
            written.removeLast()
        }
        guard !numbers.isEmpty else { return nil }
        description = String(decoding: written, as: UTF8.self)
        while numbers.count > 1, numbers.last == 0 { numbers.removeLast() }
        self.numbers = numbers
    }

    private static func number(_ digits: [UInt8]) -> UInt64 {
        UInt64(String(decoding: digits, as: UTF8.self)) ?? .max
    }

    package static func < (left: AppVersion, right: AppVersion) -> Bool {
        left.numbers.lexicographicallyPrecedes(right.numbers)
    }

    package static func == (left: AppVersion, right: AppVersion) -> Bool { left.numbers == right.numbers }

    package func hash(into hasher: inout Hasher) { hasher.combine(numbers) }
}

/// The versions of apps that are served: `2.4` for every app, `desk 2.4` for the app of that name; several are
/// separated by commas. Connections of older versions are closed.
///
///     AppRequirement("shop 3.1, desk 2.0")!.minimum(for: "shop 3.0.2")  // 3.1
package struct AppRequirement: Hashable, Sendable, CustomStringConvertible {
    private struct Minimum: Hashable, Sendable {
        /// `nil` for every app.
        var app: String?
        var version: AppVersion
    }

    private let minimums: [Minimum]

    /// The requirement that every app meets.
    package static let none = AppRequirement([])
    /// The maximum number of apps that can be named.
    package static let minimumsMax = 32
    private static let textBytesMax = 4_096

    private init(_ minimums: [Minimum]) { self.minimums = minimums }

    /// - Returns: `nil` for an invalid text, or one that names more than ``minimumsMax`` apps. An empty text is
    ///   ``none``.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.textBytesMax else { return nil }
        var minimums: [Minimum] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: true) {
            let words = part.split(separator: " ")
            guard let last = words.last, let version = AppVersion(last), version.description == last,
                !part.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f })
            else { return nil }
            let app = words.dropLast().joined(separator: " ")
            minimums.append(Minimum(app: app.isEmpty ? nil : app, version: version))
        }
        guard minimums.count <= Self.minimumsMax else { return nil }
        self.minimums = minimums
    }

    /// True when every app is served.
    package var isEmpty: Bool { minimums.isEmpty }

    /// The text from which the requirement can be read back.
    package var description: String {
        minimums.map { [$0.app, $0.version.description].compactMap { $0 }.joined(separator: " ") }
            .joined(separator: ", ")
    }

    /// Returns the minimum version of an app, if this one is older; `nil` for one that is served.
    ///
    /// An app that reports no version is older than every minimum that applies to it. To an app without a name, only
    /// minimums without a name apply.
    ///
    /// - Parameter app: the app's own description: a name, then the first word that begins with a digit as its version:
    ///   `shop 3.0.2 (iOS 18)`, `shop/3.0.2`.
    package func minimum(for app: String?) -> AppVersion? {
        guard !minimums.isEmpty else { return nil }
        let (name, version) = Self.parts(of: app ?? "")
        var least: AppVersion?
        for minimum in minimums where minimum.app == nil || minimum.app == name {
            if let version, version >= minimum.version { continue }
            least = max(minimum.version, least ?? minimum.version)
        }
        return least
    }

    private static func parts(of app: String) -> (name: String, version: AppVersion?) {
        let words = app.split { $0 == " " || $0 == "/" }
        let index = words.firstIndex { $0.utf8.first.map { (48...57).contains($0) } ?? false } ?? words.endIndex
        let name = words[..<index].joined(separator: " ")
        return (name, index < words.endIndex ? AppVersion(words[index]) : nil)
    }
}
