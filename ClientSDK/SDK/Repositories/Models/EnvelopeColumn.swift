import TidemarkModel

/// The values that every record has besides its fields, by the names that models and filters use.
enum EnvelopeColumn: String, CaseIterable {
    case id
    case serverID
    case serverTime
    case createdTime
    case author
    case syncState

    var column: String {
        switch self {
        case .id: "local_id"
        case .serverID: "server_id"
        case .serverTime: "server_time"
        case .createdTime: "created_time"
        case .author: "author"
        case .syncState: "state"
        }
    }

    var type: FieldType {
        switch self {
        case .id: .reference
        case .serverID: .integer
        case .serverTime, .createdTime: .timestamp
        case .author, .syncState: .string
        }
    }

    func value(_ record: LocalRecord, _ state: RecordState) -> FieldValue? {
        switch self {
        case .id: .string(record.key.id.description)
        case .serverID: record.born.map { .integer($0) }
        case .serverTime: record.updated.map { .integer($0) }
        case .createdTime: .integer(record.created)
        case .author: .string(record.author.text)
        case .syncState: .string(state.rawValue)
        }
    }
}
