import TidemarkHub
import TidemarkStore

extension CursorSeal {
    /// The client's position from its cursor; `nil` if it was sealed with none of the keys for this workspace.
    func open(_ cursor: String, workspace: String) -> Head? { read(cursor, workspace: workspace)?.head }
}
