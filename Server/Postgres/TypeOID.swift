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

    static let byteaArray: UInt32 = 1001
    static let int2Array: UInt32 = 1005
    static let textArray: UInt32 = 1009
    static let int8Array: UInt32 = 1016
    static let uuidArray: UInt32 = 2951

    /// Types whose binary form is the text itself, in the client's encoding.
    static let textual: [UInt32] = [text, varchar, bpchar, name, json]
}
