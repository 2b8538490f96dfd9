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

    /// `text[]` with NULL elements, of texts that are UTF-8 already; the server refuses those that are not.
    package mutating func addTextArray(utf8 values: [[UInt8]?]) {
        appendArray(of: TypeOID.text, as: TypeOID.textArray, values, elementBytes: { $0?.count }) { value, bytes in
            if let value { bytes.copyBytes(from: value) }
        }
    }

    /// `bytea[]`.
    package mutating func addBytesArray(_ values: [[UInt8]]) {
        appendArray(of: TypeOID.bytea, as: TypeOID.byteaArray, values, elementBytes: { $0.count }) {
            $1.copyBytes(from: $0)
        }
    }

    /// `bytea[]` with NULL elements.
    package mutating func addBytesArray(_ values: [[UInt8]?]) {
        appendArray(of: TypeOID.bytea, as: TypeOID.byteaArray, values, elementBytes: { $0?.count }) { value, bytes in
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

    /// Two passes over the elements, so that the array is written in place once its size is known.
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
