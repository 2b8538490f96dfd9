import Foundation
package import TidemarkModel

/// Returns the time in milliseconds since 1970.
package func wallClock() -> Milliseconds { Milliseconds(Date().timeIntervalSince1970 * 1_000) }
