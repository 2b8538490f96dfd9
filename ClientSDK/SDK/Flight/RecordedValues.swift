import TidemarkModel
import TidemarkWire

// The machine's own types in a recording.

extension SyncMachine.Link: RecordedValue {
    var recorded: FieldValue {
        switch self {
        case .stopped: ["stopped"]
        case .waiting(let until): ["waiting", .integer(until)]
        case .opening: ["opening"]
        case .greeting(let deadline): ["greeting", .integer(deadline)]
        case .streaming(let since): ["streaming", .integer(since)]
        case .refused: ["refused"]
        }
    }

    init?(recorded: FieldValue) {
        guard case .array(let parts) = recorded, case .string(let name)? = parts.first else { return nil }
        let time = parts.dropFirst().first.flatMap(Int64.init(recorded:))
        switch (name, time) {
        case ("stopped", nil): self = .stopped
        case ("waiting", let time?): self = .waiting(until: time)
        case ("opening", nil): self = .opening
        case ("greeting", let time?): self = .greeting(deadline: time)
        case ("streaming", let time?): self = .streaming(since: time)
        case ("refused", nil): self = .refused
        default: return nil
        }
    }
}

extension SyncFailure: RecordedValue {
    var recorded: FieldValue { [.string(code.rawValue), .string(detail), minimumApp.recorded] }

    init?(recorded: FieldValue) {
        guard case .array(let parts) = recorded, parts.count == 3, case .string(let word) = parts[0],
            case .string(let detail) = parts[1], let minimum = String?(recorded: parts[2])
        else { return nil }
        // A code of a later version is treated as a failure of the server.
        self.init(Code(rawValue: word) ?? .unavailable, detail, minimumApp: minimum)
    }
}

extension ConnectionState: RecordedValue {
    var recorded: FieldValue {
        switch self {
        case .stopped: ["stopped"]
        case .connecting: ["connecting"]
        case .catchingUp: ["catchingUp"]
        case .live: ["live"]
        case .waiting(let until, let reason): ["waiting", .integer(until), reason.recorded]
        case .offline(let until, let reason): ["offline", .integer(until), reason.recorded]
        case .rejected(let reason): ["refused", 0, reason.recorded]
        }
    }

    init?(recorded: FieldValue) {
        guard case .array(let parts) = recorded, case .string(let name)? = parts.first else { return nil }
        let until = parts.count == 3 ? Int64(recorded: parts[1]) : nil
        let reason = parts.count == 3 ? SyncFailure(recorded: parts[2]) : nil
        switch (name, until, reason) {
        case ("stopped", nil, nil): self = .stopped
        case ("connecting", nil, nil): self = .connecting
        case ("catchingUp", nil, nil): self = .catchingUp
        case ("live", nil, nil): self = .live
        case ("waiting", let until?, let reason?): self = .waiting(until: until, reason: reason)
        case ("offline", let until?, let reason?): self = .offline(until: until, reason: reason)
        case ("refused", _?, let reason?): self = .rejected(reason: reason)
        default: return nil
        }
    }
}

extension PushPause: RecordedValue {
    var recorded: FieldValue { [.string(reason.rawValue), .integer(until)] }

    init?(recorded: FieldValue) {
        guard case .array(let parts) = recorded, parts.count == 2, case .string(let word) = parts[0],
            let reason = Reason(rawValue: word), let until = Int64(recorded: parts[1])
        else { return nil }
        self.init(reason: reason, until: until)
    }
}

extension StoreOwner: RecordedValue {
    var recorded: FieldValue { [account.recorded, .string(schema)] }

    init?(recorded: FieldValue) {
        guard case .array(let parts) = recorded, parts.count == 2, let account = UserID(recorded: parts[0]),
            case .string(let schema) = parts[1]
        else { return nil }
        self.init(account: account, schema: schema)
    }
}

extension SentPush: RecordedValue {
    var recorded: FieldValue { [.integer(last), .integer(Int64(bytes))] }

    init?(recorded: FieldValue) {
        guard let parts = [Int64](recorded: recorded), parts.count == 2, let bytes = Int(exactly: parts[1]) else {
            return nil
        }
        self.init(last: parts[0], bytes: bytes)
    }
}

extension RecordKey: RecordedValue {
    var recorded: FieldValue { [.string(collection), .string(id.description)] }

    init?(recorded: FieldValue) {
        guard let parts = [String](recorded: recorded), parts.count == 2, let id = UniqueID(parts[1]) else {
            return nil
        }
        self.init(collection: parts[0], id: id)
    }
}

/// A request, which is recorded as it is sent.
private protocol RecordedRequest: RecordedValue {
    func encode() -> [UInt8]
    static func request(in message: ClientMessage) -> Self?
}

extension RecordedRequest {
    var recorded: FieldValue {
        // Its own encoder wrote it.
        (try? JSONReader.read(encode()) { try $0.value() }) ?? .null
    }

    init?(recorded: FieldValue) {
        // Anything else is no request.
        guard let message = try? ClientMessage.decode(Array(recorded.json.utf8)),
            let request = Self.request(in: message)
        else { return nil }
        self = request
    }
}

extension PageRequest: RecordedRequest {
    fileprivate static func request(in message: ClientMessage) -> PageRequest? {
        if case .page(let request) = message { request } else { nil }
    }
}

extension HistoryRequest: RecordedRequest {
    fileprivate static func request(in message: ClientMessage) -> HistoryRequest? {
        if case .history(let request) = message { request } else { nil }
    }
}

extension CompareRequest: RecordedRequest {
    fileprivate static func request(in message: ClientMessage) -> CompareRequest? {
        if case .compare(let request) = message { request } else { nil }
    }
}

/// The limits that the machine uses; the database uses the others.
extension WireLimits: RecordedMembers {
    mutating func members(_ all: inout MachineMembers) {
        all.member("push", &pushTransactionsMax)
        all.member("pushes", &pushesInFlightMax)
        all.member("page", &pageRowsMax)
        all.member("pages", &pagesInFlightMax)
        all.member("windowBytes", &windowBytesMax)
        all.member("windowFrames", &windowFramesMax)
    }
}

extension EphemeralLimits: RecordedValue {
    var recorded: FieldValue { [perSecond, payloadBytesMax, lifetimeMax].recorded }

    init?(recorded: FieldValue) {
        guard let numbers = [Int](recorded: recorded), numbers.count == 3 else { return nil }
        self.init()
        (perSecond, payloadBytesMax, lifetimeMax) = (numbers[0], numbers[1], numbers[2])
    }
}
