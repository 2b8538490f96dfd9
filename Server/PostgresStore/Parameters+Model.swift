import TidemarkModel
import TidemarkPostgres

extension Parameters {
    /// Begins with the workspace, as every statement does.
    init(_ workspace: WorkspaceID) {
        self.init()
        add(text: workspace.text)
    }

    mutating func add(_ id: UniqueID) { add(uuid: id.high, lo: id.low) }

    mutating func add(_ ids: [UniqueID]) { addUUIDArray(ids.map { ($0.high, $0.low) }) }

    mutating func add(_ texts: [String]) { addTextArray(texts) }

    mutating func add(_ numbers: [Int64]) { addInt64Array(numbers) }
}

extension Statement {
    /// A statement of which the workspace is the first parameter.
    init(_ prepared: PreparedStatement, _ workspace: WorkspaceID, _ add: (inout Parameters) -> Void = { _ in }) {
        var parameters = Parameters(workspace)
        add(&parameters)
        self.init(prepared, parameters)
    }
}
