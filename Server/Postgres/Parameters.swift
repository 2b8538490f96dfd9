/// The parameters of one statement, in binary form, in one buffer.
///
/// Each value carries its PostgreSQL type, so that `$1` needs no cast if the statement accepts that type; otherwise
/// write the cast (`$1::jsonb`).
package struct Parameters: Sendable {
    private struct Slot: Sendable {
        var offset: Int
        /// The length in bytes; -1 is NULL.
        var length: Int
        var type: UInt32
    }

    private var storage: [UInt8] = []
    private var slots: [Slot] = []

    /// Parameters that one statement can have (a 16-bit count on the wire).
    static let countMax = 65_535

    package init() {}

    /// Parameters added so far.
    package var count: Int { slots.count }

    /// Bytes of values added so far.
    package var byteCount: Int { storage.count }

    /// `boolean`.
    package mutating func add(_ value: Bool) {
        append(type: TypeOID.bool, length: 1) { $0.storeBytes(of: value ? 1 : 0, as: UInt8.self) }
    }

    /// `bigint`.
    package mutating func add(_ value: Int64) {
        append(type: TypeOID.int8, length: 8) { $0.storeBytes(of: value.bigEndian, as: Int64.self) }
    }

    /// `text`. The server refuses U+0000 in it.
    package mutating func add(text: String) {
        let offset = storage.count
        storage.append(contentsOf: text.utf8)
        closeSlot(from: offset, type: TypeOID.text)
    }

    /// `text` that is UTF-8 already; the server refuses other bytes.
    package mutating func add(utf8: [UInt8]) {
        let offset = storage.count
        storage.append(contentsOf: utf8)
        closeSlot(from: offset, type: TypeOID.text)
    }

    /// `bytea`.
    package mutating func add(bytes: [UInt8]) {
        let offset = storage.count
        storage.append(contentsOf: bytes)
        closeSlot(from: offset, type: TypeOID.bytea)
    }

    /// `uuid`, most significant half first.
    package mutating func add(uuid hi: UInt64, lo: UInt64) {
        append(type: TypeOID.uuid, length: 16) { bytes in
            bytes.storeBytes(of: hi.bigEndian, as: UInt64.self)
            bytes.storeBytes(of: lo.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
    }

    /// NULL of the type that the server infers from the statement.
    package mutating func addNull() {
        slots.append(Slot(offset: 0, length: -1, type: TypeOID.unspecified))
    }

    /// Adds one value of known length, written directly into the buffer.
    mutating func append(type: UInt32, length: Int, _ write: (UnsafeMutableRawBufferPointer) -> Void) {
        let offset = storage.count
        storage.append(contentsOf: repeatElement(0, count: length))
        storage.withUnsafeMutableBytes { write(UnsafeMutableRawBufferPointer(rebasing: $0[offset...])) }
        slots.append(Slot(offset: offset, length: length, type: type))
    }

    private mutating func closeSlot(from offset: Int, type: UInt32) {
        slots.append(Slot(offset: offset, length: storage.count - offset, type: type))
        // An empty value differs from NULL by its pointer, and an empty array has none.
        if storage.isEmpty { storage.append(0) }
    }
}

extension Parameters {
    /// The parallel arrays for libpq's `PQsend…` functions. The pointers are valid during the call only; libpq copies
    /// what it needs.
    struct LibpqArrays {
        let count: Int32
        let types: UnsafePointer<UInt32>?
        let values: UnsafePointer<UnsafePointer<CChar>?>?
        let lengths: UnsafePointer<Int32>?
        let formats: UnsafePointer<Int32>?
    }

    func withLibpqArrays<R>(_ body: (LibpqArrays) -> R) -> R {
        let count = slots.count
        guard count > 0 else {
            return body(LibpqArrays(count: 0, types: nil, values: nil, lengths: nil, formats: nil))
        }
        return storage.withUnsafeBytes { bytes in
            withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count) { values in
                // Types, lengths and formats share one scratch buffer of 32-bit words.
                withUnsafeTemporaryAllocation(of: Int32.self, capacity: count * 3) { words in
                    for (index, slot) in slots.enumerated() {
                        let start = slot.length < 0 ? nil : bytes.baseAddress?.advanced(by: slot.offset)
                        values.initializeElement(at: index, to: start?.assumingMemoryBound(to: CChar.self))
                        words.initializeElement(at: index, to: Int32(bitPattern: slot.type))
                        words.initializeElement(at: count + index, to: Int32(clamping: max(0, slot.length)))
                        words.initializeElement(at: 2 * count + index, to: 1)
                    }
                    guard let base = words.baseAddress else {
                        return body(LibpqArrays(count: 0, types: nil, values: nil, lengths: nil, formats: nil))
                    }
                    return base.withMemoryRebound(to: UInt32.self, capacity: count) { types in
                        body(
                            LibpqArrays(
                                count: Int32(clamping: count), types: types, values: UnsafePointer(values.baseAddress),
                                lengths: base + count, formats: base + 2 * count))
                    }
                }
            }
        }
    }
}

/// Object identifiers of the built-in types that this client reads and writes (`pg_type.dat`; fixed for all versions).
enum TypeOID {
    static let unspecified: UInt32 = 0
    static let bool: UInt32 = 16
    static let bytea: UInt32 = 17
    static let name: UInt32 = 19
    static let int8: UInt32 = 20
    static let int2: UInt32 = 21
    static let int4: UInt32 = 23
    static let text: UInt32 = 25
    static let json: UInt32 = 114
    static let bpchar: UInt32 = 1042
    static let varchar: UInt32 = 1043
    static let uuid: UInt32 = 2950

    static let int2Array: UInt32 = 1005
    static let textArray: UInt32 = 1009
    static let int8Array: UInt32 = 1016
    static let uuidArray: UInt32 = 2951

    /// Types whose binary form is the text itself, in the client's encoding.
    static let textual: [UInt32] = [text, varchar, bpchar, name, json]
}

/// One-dimensional arrays, to be unfolded with `unnest($1)` or searched with `= ANY ($1)`.
extension Parameters {
    /// `bigint[]`.
    package mutating func addInt64Array(_ values: [Int64]) {
        appendArray(of: TypeOID.int8, as: TypeOID.int8Array, values, elementBytes: { _ in 8 }) {
            $1.storeBytes(of: $0.bigEndian, as: Int64.self)
        }
    }

    /// `smallint[]`.
    package mutating func addInt16Array(_ values: [Int16]) {
        appendArray(of: TypeOID.int2, as: TypeOID.int2Array, values, elementBytes: { _ in 2 }) {
            $1.storeBytes(of: $0.bigEndian, as: Int16.self)
        }
    }

    /// `bigint[]` with NULL elements.
    package mutating func addInt64Array(_ values: [Int64?]) {
        appendArray(of: TypeOID.int8, as: TypeOID.int8Array, values, elementBytes: { $0.map { _ in 8 } }) {
            value, bytes in
            if let value { bytes.storeBytes(of: value.bigEndian, as: Int64.self) }
        }
    }

    /// `text[]`.
    package mutating func addTextArray(_ values: [String]) {
        appendArray(of: TypeOID.text, as: TypeOID.textArray, values, elementBytes: { $0.utf8.count }) {
            $1.copyBytes(from: $0.utf8)
        }
    }

    /// `text[]` with NULL elements.
    package mutating func addTextArray(_ values: [String?]) {
        appendArray(of: TypeOID.text, as: TypeOID.textArray, values, elementBytes: { $0?.utf8.count }) { value, bytes in
            if let value { bytes.copyBytes(from: value.utf8) }
        }
    }

    /// `text[]` with NULL elements, of texts that are UTF-8 already; the server refuses other bytes.
    package mutating func addTextArray(utf8 values: [[UInt8]?]) {
        appendArray(of: TypeOID.text, as: TypeOID.textArray, values, elementBytes: { $0?.count }) { value, bytes in
            if let value { bytes.copyBytes(from: value) }
        }
    }

    /// `uuid[]`, most significant half first.
    package mutating func addUUIDArray(_ values: [(UInt64, UInt64)]) {
        appendArray(of: TypeOID.uuid, as: TypeOID.uuidArray, values, elementBytes: { _ in 16 }) { value, bytes in
            bytes.storeBytes(of: value.0.bigEndian, as: UInt64.self)
            bytes.storeBytes(of: value.1.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
    }

    /// Makes two passes over the elements, so that the array is written into the buffer once its size is known.
    ///
    /// `elementBytes` is `nil` for NULL; `write` gets exactly that many bytes.
    @inline(__always)
    private mutating func appendArray<Element>(
        of element: UInt32, as array: UInt32, _ values: [Element],
        elementBytes: (Element) -> Int?, write: (Element, UnsafeMutableRawBufferPointer) -> Void
    ) {
        let headerBytes = values.isEmpty ? 12 : 20
        var total = headerBytes
        var holdsNull: Int32 = 0
        for value in values {
            let bytes = elementBytes(value)
            if bytes == nil { holdsNull = 1 }
            total += 4 + (bytes ?? 0)
        }
        append(type: array, length: total) { buffer in
            // Dimensions, NULL flag, element type; then count and lower bound of the one dimension.
            buffer.storeBytes(of: Int32(values.isEmpty ? 0 : 1).bigEndian, toByteOffset: 0, as: Int32.self)
            buffer.storeBytes(of: holdsNull.bigEndian, toByteOffset: 4, as: Int32.self)
            buffer.storeBytes(of: element.bigEndian, toByteOffset: 8, as: UInt32.self)
            guard !values.isEmpty else { return }
            buffer.storeBytes(of: Int32(clamping: values.count).bigEndian, toByteOffset: 12, as: Int32.self)
            buffer.storeBytes(of: Int32(1).bigEndian, toByteOffset: 16, as: Int32.self)
            var position = headerBytes
            for value in values {
                let bytes = elementBytes(value)
                buffer.storeBytes(of: Int32(clamping: bytes ?? -1).bigEndian, toByteOffset: position, as: Int32.self)
                position += 4
                guard let bytes else { continue }
                write(value, UnsafeMutableRawBufferPointer(rebasing: buffer[position..<position + bytes]))
                position += bytes
            }
        }
    }
}
