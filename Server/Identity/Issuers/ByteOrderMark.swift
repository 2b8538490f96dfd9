extension [UInt8] {
    /// The bytes of a file without the invisible mark that some editors write before UTF-8.
    package var withoutMark: [UInt8] { starts(with: [0xef, 0xbb, 0xbf]) ? Array(dropFirst(3)) : self }
}
