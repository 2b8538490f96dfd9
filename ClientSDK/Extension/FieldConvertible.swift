package import Foundation
package import TidemarkModel

/// Swift types that convert to one field value directly; all others are coded member by member.
package protocol FieldConvertible {
    /// The field value; `nil` for a value that no field can hold, such as an infinite number.
    var fieldValue: FieldValue? { get }
    /// Returns `nil` for a value of another kind or out of range.
    static func from(_ value: FieldValue) -> Self?
}

extension String: FieldConvertible {
    package var fieldValue: FieldValue? { .string(self) }
    package static func from(_ value: FieldValue) -> String? { if case .string(let text) = value { text } else { nil } }
}

extension Bool: FieldConvertible {
    package var fieldValue: FieldValue? { .boolean(self) }
    package static func from(_ value: FieldValue) -> Bool? { if case .boolean(let flag) = value { flag } else { nil } }
}

extension FieldConvertible where Self: FixedWidthInteger {
    /// The field value; `nil` above the range of an integer field.
    package var fieldValue: FieldValue? { Int64(exactly: self).map { .integer($0) } }
    /// Returns `nil` for a value of another kind, or out of the type's range.
    package static func from(_ value: FieldValue) -> Self? {
        if case .integer(let number) = value { Self(exactly: number) } else { nil }
    }
}

extension Int: FieldConvertible {}
extension Int8: FieldConvertible {}
extension Int16: FieldConvertible {}
extension Int32: FieldConvertible {}
extension Int64: FieldConvertible {}
extension UInt: FieldConvertible {}
extension UInt8: FieldConvertible {}
extension UInt16: FieldConvertible {}
extension UInt32: FieldConvertible {}
extension UInt64: FieldConvertible {}

extension Double: FieldConvertible {
    package var fieldValue: FieldValue? { isFinite ? .double(self) : nil }
    package static func from(_ value: FieldValue) -> Double? {
        switch value {
        case .double(let number): number
        case .integer(let number): Double(number)
        case .null, .boolean, .string, .array, .object: nil
        }
    }
}

extension Float: FieldConvertible {
    package var fieldValue: FieldValue? { Double(self).fieldValue }
    package static func from(_ value: FieldValue) -> Float? { Double.from(value).map { Float($0) } }
}

/// Dates as whole milliseconds; finer parts are lost.
extension Date: FieldConvertible {
    package var fieldValue: FieldValue? {
        Int64(exactly: (timeIntervalSince1970 * 1_000).rounded()).map { .integer($0) }
    }
    package static func from(_ value: FieldValue) -> Date? {
        Int64.from(value).map { Date(timeIntervalSince1970: Double($0) / 1_000) }
    }
}

extension UUID: FieldConvertible {
    package var fieldValue: FieldValue? { .id(self) }
    package static func from(_ value: FieldValue) -> UUID? {
        String.from(value).flatMap { UniqueID($0) }.map { UUID($0) }
    }
}

extension URL: FieldConvertible {
    package var fieldValue: FieldValue? { .string(absoluteString) }
    package static func from(_ value: FieldValue) -> URL? { String.from(value).flatMap { URL(string: $0) } }
}

/// Bytes as Base64.
extension Data: FieldConvertible {
    package var fieldValue: FieldValue? { .string(base64EncodedString()) }
    package static func from(_ value: FieldValue) -> Data? { String.from(value).flatMap { Data(base64Encoded: $0) } }
}
