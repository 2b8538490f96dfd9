/// The number of a constant that C declares as an enumeration on one system and as a number on another.
package func systemNumber(of name: some RawRepresentable<UInt32>) -> Int32 { Int32(name.rawValue) }
/// The same for a constant that is a number.
package func systemNumber(of name: Int32) -> Int32 { name }
