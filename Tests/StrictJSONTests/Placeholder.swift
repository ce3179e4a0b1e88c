import Testing

@Suite struct PlaceholderStrictJSONTests {}
