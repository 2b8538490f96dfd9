import TidemarkHub
import TidemarkModel
import TidemarkSequencer

/// Bearer tokens of the simulation: the user, the beginning and the end, in plain text.
enum Token {
    static func issue(for user: UserID, issued: Milliseconds, expires: Milliseconds) -> String {
        "\(user) \(issued) \(expires)"
    }

    static func verdict(on token: String, now: Milliseconds) -> TokenVerdict {
        let parts = token.split(separator: " ")
        guard parts.count == 3, let issued = Int64(parts[1]), let expires = Int64(parts[2]), now < expires else {
            return .refused("expired")
        }
        return .accepted(
            Identity(
                principal: Principal(user: UserID(String(parts[0]))), workspace: World.workspace, expires: expires,
                issuedAt: issued))
    }
}
