internal import CRdKafka

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Returns the text that `rd_kafka_conf_properties_show` prints, or an empty text if memory is exhausted.
func propertiesManual() -> String {
    var bytes: UnsafeMutablePointer<CChar>?
    var size = 0
    guard let stream = open_memstream(&bytes, &size) else { return "" }
    rd_kafka_conf_properties_show(stream)
    fclose(stream)
    guard let bytes else { return "" }
    defer { free(bytes) }
    return String(cString: bytes)
}
