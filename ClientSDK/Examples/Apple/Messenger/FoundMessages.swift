import SwiftUI
import Tidemark
import TidemarkChat

/// The found messages, with the searched words in bold.
struct FoundMessages: View {
    let hits: [MessageHit]

    var body: some View {
        ForEach(hits) { hit in
            NavigationLink(value: hit.message.conversationID) {
                hit.snippet.pieces.reduce(Text("")) { $0 + ($1.isMatch ? Text($1.text).bold() : Text($1.text)) }
            }
        }
    }
}
