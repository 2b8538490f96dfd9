public import Foundation

/// A value with an order that a field keeps: numbers and times by size, text by the bytes of its UTF-8.
///
/// A type of an app may be one when its order is that of what it is stored as: a wrapped number, say, and no enumeration of
/// strings.
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
