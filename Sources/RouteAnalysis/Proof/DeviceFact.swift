/// A fact of a device or a query that conditions can depend on.
enum DeviceFact: Hashable {
    case app
    case os
    case platform
    case region
    case locale
    case attribute(String)
    case claim(String)
    case listed(String)
    case query(String)
}

/// A set of devices: for each fact the indices of its possible values; a fact without an entry can have any value.
typealias DeviceCell = [DeviceFact: Set<Int>]
