// The C library of the platform under one name, so that no other file imports it under a condition.

#if canImport(Glibc)
@_exported public import Glibc
#elseif canImport(Musl)
@_exported public import Musl
#elseif canImport(Darwin)
@_exported public import Darwin
#endif

#if canImport(Darwin)
/// The type of a socket for TCP.
public let streamSocketType = SOCK_STREAM
#else
/// The type of a socket for TCP.
public let streamSocketType = Int32(SOCK_STREAM.rawValue)
#endif
