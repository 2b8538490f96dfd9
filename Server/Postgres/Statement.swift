/// A statement that each connection prepares once, in the pipeline of its first execution.
///
/// The name is the identity: two different texts under one name are a programming error, of which only the one that a
/// connection saw first is executed. The types of its parameters are those of that first execution.
package struct PreparedStatement: Sendable, Hashable {
    package let name: String
    package let sql: String

    package init(name: String, sql: String) {
        self.name = name
        self.sql = sql
    }
}

/// One statement with its parameters, ready to be sent.
package struct Statement: Sendable {
    enum Form: Sendable {
        case prepared(PreparedStatement)
        case unprepared(String)
    }

    let form: Form
    let parameters: Parameters

    package init(_ prepared: PreparedStatement, _ parameters: Parameters = Parameters()) {
        form = .prepared(prepared)
        self.parameters = parameters
    }

    private init(unprepared sql: String) {
        form = .unprepared(sql)
        parameters = Parameters()
    }

    /// A statement without parameters that is parsed anew each time: `BEGIN`, `COMMIT`, `SET LOCAL …`.
    ///
    /// It holds exactly one statement; for scripts there is ``PostgresScript``.
    package static func simple(_ sql: String) -> Statement {
        Statement(unprepared: sql)
    }

    /// What it adds to the request, roughly, in bytes.
    var byteCount: Int {
        switch form {
        case .prepared: parameters.byteCount
        case .unprepared(let sql): parameters.byteCount + sql.utf8.count
        }
    }
}
