import AsyncAlgorithms
import Foundation
import Tidemark
import TidemarkChat
import TidemarkModel

/// Live state that is stored nowhere: typing and presence.
extension ChatRoom {
    private enum Word: Sendable {
        case typing(Set<UserID>)
        case present([UserID: Presence])
    }

    /// Notifies the others that a key was pressed.
    func typed() { chat.typing.setTyping(in: conversation) }

    /// Reports the others' activity as lines for people, now and after each change.
    func live(_ use: ([String]) async -> Void) async throws {
        let words = merge(
            chat.typing.observeTyping(in: conversation).map { Word.typing($0) },
            chat.store.presence(in: .of(conversation)).map { Word.present($0) })
        var (typing, present): (Set<UserID>, [UserID: Presence]) = ([], [:])
        for try await word in words {
            switch word {
            case .typing(let users): typing = users
            case .present(let users): present = users
            }
            let names = try await names()
            await use(Self.lines(typing: typing, present: present, account: chat.store.account, names, zone))
        }
    }

    /// Returns the lines: users who type first, then those who are present, and the others with their last time.
    static func lines(
        typing: Set<UserID>, present: [UserID: Presence], account: UserID, _ names: MemberNames, _ zone: TimeZone
    ) -> [String] {
        var lines = typing.subtracting([account]).sorted().map { "\(names.name($0)) is typing" }
        for (user, presence) in present.sorted(by: { $0.key < $1.key })
        where user != account && !typing.contains(user) {
            switch presence {
            case .online: lines.append("\(names.name(user)) is here")
            case .lastSeen(let date):
                let (day, time) = ChatLine.clock(date, in: zone)
                lines.append("\(names.name(user)) was here on \(day) at \(time)")
            case .unknown: break
            }
        }
        return lines
    }
}
