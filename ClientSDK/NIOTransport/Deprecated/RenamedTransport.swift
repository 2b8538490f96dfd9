// The name before 0.1.0; it goes with the next release.

extension NIOTransport {
    @available(*, deprecated, renamed: "init(maxMessageBytes:trustRootsFile:)")
    public init(messageBytesMax: Int, trustRootsFile: String? = nil) {
        self.init(maxMessageBytes: messageBytesMax, trustRootsFile: trustRootsFile)
    }
}
