/// The page `/metrics`.
package enum PrometheusPage {
    /// The media type of the text format.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// Returns all metrics of a worker.
    package static func text(_ snapshot: WorkerSnapshot) -> [UInt8] {
        var text = PrometheusText()
        for metric in MetricCatalog.all { metric.write(snapshot, to: &text) }
        return text.bytes
    }
}
