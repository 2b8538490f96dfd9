import CPostgres

extension PostgresConfiguration {
    /// The same connection as the variables of libpq, for programs of PostgreSQL: an argument, unlike these, is read by
    /// every user of the machine.
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
