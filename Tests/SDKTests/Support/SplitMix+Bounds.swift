import TidemarkModel

extension SplitMix {
    mutating func below(_ bound: UInt64) -> UInt64 { UInt64.random(in: 0..<bound, using: &self) }
    mutating func chance(_ percent: UInt64) -> Bool { below(100) < percent }
}
