/// Sizes for people.
enum ByteCount {
    /// Returns a size such as `999 B`, `1.2 kB`, `16.8 MB`.
    static func text(_ bytes: Int) -> String {
        switch bytes {
        case ..<1_000: "\(bytes) B"
        case ..<999_950: tenths(bytes, of: 1_000) + " kB"
        default: tenths(bytes, of: 1_000_000) + " MB"
        }
    }

    private static func tenths(_ bytes: Int, of unit: Int) -> String {
        let tenths = (bytes / (unit / 100) + 5) / 10
        return "\(tenths / 10).\(tenths % 10)"
    }
}
