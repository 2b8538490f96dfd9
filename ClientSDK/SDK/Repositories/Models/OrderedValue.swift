public import Foundation

/// A value whose order is the order of its field: numbers and times by size, text by the bytes of its UTF-8.
///
/// An app's type may conform if its order is that of its stored value: a wrapped number, for example, but not an
/// enumeration of strings.
public protocol OrderedValue: Comparable, Encodable {}

extension Int: OrderedValue {}
extension Int8: OrderedValue {}
extension Int16: OrderedValue {}
extension Int32: OrderedValue {}
extension Int64: OrderedValue {}
extension UInt: OrderedValue {}
extension UInt8: OrderedValue {}
extension UInt16: OrderedValue {}
extension UInt32: OrderedValue {}
extension UInt64: OrderedValue {}
extension Double: OrderedValue {}
extension Float: OrderedValue {}
extension String: OrderedValue {}
extension Date: OrderedValue {}
