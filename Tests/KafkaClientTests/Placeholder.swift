import Testing

@Suite struct PlaceholderKafkaClientTests {}
