import CPostgres

extension PostgresConfiguration {
    /// The connection as libpq's variables, for programs of PostgreSQL: every user of the machine could read an
    /// argument.
    package var environment: [String: String] {
        guard let options = PQconninfoParse(connectionString, nil) else { return [:] }
        defer { PQconninfoFree(options) }
        var variables: [String: String] = [:]
        var option = options
        while option.pointee.keyword != nil {
            if let name = option.pointee.envvar, let value = option.pointee.val {
                variables[String(cString: name)] = String(cString: value)
            }
            option += 1
        }
        return variables
    }
}
