/// Returns a count with its noun, such as `1 record` or `2 records`.
func counted(_ count: Int, _ noun: String) -> String { count == 1 ? "1 \(noun)" : "\(count) \(noun)s" }
