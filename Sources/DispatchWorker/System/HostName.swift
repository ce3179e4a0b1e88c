#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Returns this machine's host name, restricted to the characters of an instance name, or `host` if it has none.
package func hostName() -> String {
    var bytes = [CChar](repeating: 0, count: 256)
    guard gethostname(&bytes, bytes.count - 1) == 0 else { return "host" }
    let name = bytes.prefix { $0 != 0 }.prefix(48).map { byte -> Character in
        let scalar = Unicode.Scalar(UInt8(bitPattern: byte))
        let isPlain = ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
        return isPlain || scalar == "." || scalar == "-" || scalar == "_" ? Character(scalar) : "-"
    }
    return name.isEmpty ? "host" : String(name)
}
