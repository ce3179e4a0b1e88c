internal import CRdKafka

extension KafkaErrorCode {
    /// Creates a code from librdkafka's enumeration.
    init(_ native: rd_kafka_resp_err_t) { self.init(native.rawValue) }

    /// The code in librdkafka's enumeration.
    var native: rd_kafka_resp_err_t { rd_kafka_resp_err_t(rawValue: rawValue) }

    /// The symbolic name, such as `REQUEST_TIMED_OUT` or `_FENCED`.
    ///
    /// An unknown number has the name `ERR_n?`.
    package var name: String { String(cString: rd_kafka_err2name(native)) }

    /// librdkafka's message for this code.
    package var text: String { String(cString: rd_kafka_err2str(native)) }
}
