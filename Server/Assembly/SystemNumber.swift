/// The number of a constant that C calls an enumeration on one system and a number on another.
package func systemNumber(of name: some RawRepresentable<UInt32>) -> Int32 { Int32(name.rawValue) }
/// The same where it is a number.
package func systemNumber(of name: Int32) -> Int32 { name }
