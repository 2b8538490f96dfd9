import Tidemark

/// An attachment as a record holds it. The field accepts any JSON from any version of any app. A value of another form
/// is treated as no attachment, so that the message is still shown.
struct AttachmentField: Codable, Hashable, Sendable {
    let attachment: MessageAttachment?

    init(_ attachment: MessageAttachment) { self.attachment = attachment }

    init(from decoder: any Decoder) throws {
        // A value that cannot be decoded is not ours.
        attachment = try? MessageAttachment(from: decoder)
    }

    func encode(to encoder: any Encoder) throws { try attachment.encode(to: encoder) }
}
