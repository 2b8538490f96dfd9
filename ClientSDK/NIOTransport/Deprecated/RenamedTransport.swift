// The name before the first release; it goes with the one after it.

extension NIOTransport {
    @available(*, deprecated, renamed: "init(maxMessageBytes:trustRootsFile:)")
    public init(messageBytesMax: Int, trustRootsFile: String? = nil) {
        self.init(maxMessageBytes: messageBytesMax, trustRootsFile: trustRootsFile)
    }
}
