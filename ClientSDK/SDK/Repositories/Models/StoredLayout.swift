/// The names of a structure's stored properties by their offsets, from the type's own metadata.
///
/// Before iOS 16.4 and macOS 13.3, a key path does not tell its property's name. It tells the property's offset, and
/// the metadata have the names in order and the offset of each. Their format has not changed since Swift 5.0, when it
/// became part of the ABI of Apple's platforms (`docs/ABI/TypeMetadata.rst` of the compiler). No future system reads
/// them here.
struct StoredLayout {
    private enum Kind {
        static let structure = 0x200
    }

    private let names: [Int: String]

    /// `nil` for a type that is not a structure, or a program without metadata for reflection.
    init?(_ type: Any.Type) {
        let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
        guard metadata.load(as: Int.self) == Kind.structure else { return nil }
        let descriptor = metadata.load(fromByteOffset: MemoryLayout<Int>.size, as: UnsafeRawPointer.self)
        // After flags, parent, name and accessor: the fields, their count, and the word at which their offsets begin.
        guard let fields = Self.target(descriptor + 16) else { return nil }
        let count = Int(descriptor.load(fromByteOffset: 20, as: UInt32.self))
        let first = Int(descriptor.load(fromByteOffset: 24, as: UInt32.self)) * MemoryLayout<Int>.size
        // After the name of the type and of a superclass: the kind, the size of a record, and the count.
        let size = Int(fields.load(fromByteOffset: 10, as: UInt16.self))
        guard fields.load(fromByteOffset: 12, as: UInt32.self) == UInt32(count) else { return nil }
        var names: [Int: String] = [:]
        for index in 0..<count {
            // After flags and type: the name.
            guard let name = Self.target(fields + 16 + index * size + 8) else { return nil }
            let offset = metadata.load(fromByteOffset: first + index * 4, as: UInt32.self)
            names[Int(offset)] = String(cString: name.assumingMemoryBound(to: CChar.self))
        }
        self.names = names
    }

    /// Returns the name of the property that begins at the offset. If one property is part of another, it is the name
    /// of the outer one.
    func name(at offset: Int) -> String? { names[offset] }

    /// Resolves an address that is stored as a distance from itself; `nil` for a distance of 0.
    private static func target(_ place: UnsafeRawPointer) -> UnsafeRawPointer? {
        let distance = Int(place.load(as: Int32.self))
        return distance == 0 ? nil : place + distance
    }
}
