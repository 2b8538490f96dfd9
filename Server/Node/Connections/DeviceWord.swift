import TidemarkModel
import TidemarkStore

/// A server's question about devices to the others, or an answer to it, as it travels between nodes:
/// `{"w":"…","ask_of":["device"],"by":"node","no":7}` and
/// `{"w":"…","know":[{"c":"device",…}],"to":"node","no":7,"from":"node"}`.
///
/// A lost message means that no answer arrives; the asking node waits at most `NodeLimits.answerMax`.
struct DeviceWord {
    enum Content {
        case question([ClientID])
        case answer([ClientID: DeviceSight], from: UInt64)
    }

    var workspace: WorkspaceID
    var content: Content
    /// The node that asks.
    var asker: UInt64
    /// The question's number, among those of its node.
    var number: Int64

    /// Devices in one question: the answer about so many fits into one message.
    static let devicesMax = 32
    /// Bytes of an answer's devices, roughly, because a notification is bounded.
    private static let bytesMax = 6_500
    /// The longest reason, in characters.
    private static let reasonMax = 80

    init(_ content: Content, in workspace: WorkspaceID, asker: UInt64, number: Int64) {
        self.workspace = workspace
        self.content = content
        self.asker = asker
        self.number = number
    }

    /// Parses a line; `nil` for another kind of message.
    init?(_ line: String) {
        var (workspace, asker, number): (WorkspaceID?, UInt64?, Int64?)
        var (asked, known, from): ([ClientID]?, [ClientID: DeviceSight]?, UInt64?)
        do {
            try JSONReader.read(Array(line.utf8)) { reader in
                try reader.object { reader, key in
                    switch key {
                    case "w": workspace = WorkspaceID(checking: try reader.string())
                    case "by", "to": asker = UInt64(try reader.string())
                    case "from": from = UInt64(try reader.string())
                    case "no": number = try reader.integer()
                    case "ask_of":
                        var ids: [ClientID] = []
                        try reader.array { reader in
                            if let id = UniqueID(try reader.string()) { ids.append(id) }
                        }
                        asked = ids
                    case "know":
                        var sights: [ClientID: DeviceSight] = [:]
                        try reader.array { reader in
                            guard let (id, sight) = try Self.sight(&reader) else { return }
                            sights[id] = sight
                        }
                        known = sights
                    default: try reader.skip()
                    }
                }
            }
        } catch {
            return nil
        }
        guard let workspace, let asker, let number else { return nil }
        if let asked {
            self.init(.question(asked), in: workspace, asker: asker, number: number)
        } else if let known, let from {
            self.init(.answer(known, from: from), in: workspace, asker: asker, number: number)
        } else {
            return nil
        }
    }

    var line: String {
        var writer = JSONWriter(capacity: 256)
        writer.string("{\"w\":", workspace.text)
        switch content {
        case .question(let devices):
            writer.array(",\"ask_of\":", devices) { $0.string($1.description) }
            writer.literal(",\"by\":")
        case .answer(let known, let node):
            writer.string(",\"from\":", "\(node)")
            writer.array(",\"know\":", Self.fitting(known)) { $0.raw($1) }
            writer.literal(",\"to\":")
        }
        writer.string("\(asker)")
        writer.integer(",\"no\":", number)
        writer.byte(UInt8(ascii: "}"))
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    // MARK: A device

    /// Fits the devices into the bound; the oldest endings are left out first.
    private static func fitting(_ known: [ClientID: DeviceSight]) -> [[UInt8]] {
        for endings in stride(from: DeviceSight.endingsMax, through: 0, by: -1) {
            let all = known.sorted { $0.key < $1.key }.map { bytes(of: $0.key, $0.value, endings: endings) }
            if endings == 0 || all.reduce(0, { $0 + $1.count + 1 }) <= bytesMax { return all }
        }
        return []
    }

    private static func bytes(of id: ClientID, _ sight: DeviceSight, endings: Int) -> [UInt8] {
        var writer = JSONWriter(capacity: 192)
        writer.string("{\"c\":", id.description)
        if let connection = sight.connection {
            writer.literal(",\"on\":")
            writer.array(
                [
                    connection.since, connection.position, connection.pending, connection.isSlow ? 1 : 0,
                    connection.stuck ?? 0, connection.diverged ?? 0,
                ]
            ) { $0.integer($1) }
        }
        if let latest = sight.latest {
            writer.integer(",\"seen\":", latest.time)
            if let written = latest.written { writer.integer(",\"wrote\":", written) }
            if let position = latest.position { writer.integer(",\"at\":", position) }
        }
        let last = sight.endings.prefix(endings)
        if !last.isEmpty {
            writer.array(",\"ended\":", last) { writer, ending in
                writer.byte(UInt8(ascii: "["))
                writer.integer(ending.time)
                writer.byte(UInt8(ascii: ","))
                writer.integer(ending.code.map(Int64.init) ?? 0)
                writer.byte(UInt8(ascii: ","))
                writer.string(String(ending.reason.prefix(reasonMax)))
                writer.byte(UInt8(ascii: ","))
                writer.integer(ending.stuck ?? 0)
                writer.byte(UInt8(ascii: ","))
                writer.integer(ending.diverged ?? 0)
                writer.byte(UInt8(ascii: "]"))
            }
        }
        return writer.ended()
    }

    private static func sight(_ reader: inout JSONReader) throws -> (ClientID, DeviceSight)? {
        var id: ClientID?
        var sight = DeviceSight()
        var (seen, written, position): (Milliseconds?, Int64?, SequenceNumber?)
        try reader.object { reader, key in
            switch key {
            case "c": id = UniqueID(try reader.string())
            case "on":
                var numbers: [Int64] = []
                try reader.array { numbers.append(try $0.integer()) }
                guard numbers.count >= 4 else { return }
                sight.connection = .init(
                    since: numbers[0], position: numbers[1], pending: numbers[2], isSlow: numbers[3] != 0,
                    stuck: Self.count(numbers.dropFirst(4)), diverged: Self.count(numbers.dropFirst(5)))
            case "seen": seen = try reader.integer()
            case "wrote": written = try reader.integer()
            case "at": position = try reader.integer()
            case "ended":
                try reader.array { reader in
                    if let ending = try Self.ending(&reader) { sight.endings.append(ending) }
                }
            default: try reader.skip()
            }
        }
        guard let id else { return nil }
        sight.latest = seen.map { SeenClient(id, at: $0, written: written, position: position) }
        return (id, sight)
    }

    private static func ending(_ reader: inout JSONReader) throws -> DeviceSight.Ending? {
        var numbers: [Int64] = []
        var reason: String?
        try reader.array { reader in
            if numbers.count == 2, reason == nil {
                reason = try reader.string()
            } else {
                numbers.append(try reader.integer())
            }
        }
        guard numbers.count >= 2, let reason else { return nil }
        return .init(
            time: numbers[0], code: numbers[1] == 0 ? nil : UInt16(exactly: numbers[1]), reason: reason,
            stuck: count(numbers.dropFirst(2)), diverged: count(numbers.dropFirst(3)))
    }

    /// Returns the first of the numbers; `nil` if it is 0 or missing, as from an older server.
    private static func count(_ numbers: ArraySlice<Int64>) -> Int64? {
        numbers.first.flatMap { $0 > 0 ? $0 : nil }
    }
}
