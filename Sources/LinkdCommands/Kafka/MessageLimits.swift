internal import KafkaClient

extension KafkaAdmin {
    /// Returns the values of `max.message.bytes` of topics that this user is allowed to read.
    ///
    /// Without the right, a record or batch that is too large is refused by the broker.
    func messageLimits(of names: [String]) -> [String: Int] {
        let results = (try? settings(ofTopics: names, timeoutMilliseconds: 5_000)) ?? []
        var limits: [String: Int] = [:]
        for result in results where result.error == nil {
            limits[result.name] = result.values["max.message.bytes"].flatMap { Int($0) }
        }
        return limits
    }
}
