// The module that the manifest of an app package imports beside PackageDescription; Xcode contains it.
public import PackageDescription

public enum DeviceFamily: Sendable {
    case phone
    case pad
    case mac
}

public struct InterfaceOrientation: Sendable {
    public static var portrait: InterfaceOrientation { InterfaceOrientation() }
    public static var landscapeLeft: InterfaceOrientation { InterfaceOrientation() }
    public static var landscapeRight: InterfaceOrientation { InterfaceOrientation() }
}

extension Product {
    public static func iOSApplication(
        name: String, targets: [String], bundleIdentifier: String? = nil, teamIdentifier: String? = nil,
        displayVersion: String? = nil, bundleVersion: String? = nil, supportedDeviceFamilies: [DeviceFamily],
        supportedInterfaceOrientations: [InterfaceOrientation], additionalInfoPlistContentFilePath: String? = nil
    ) -> Product { .executable(name: name, targets: targets) }
}
