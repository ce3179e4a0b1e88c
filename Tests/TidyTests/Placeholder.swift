import Testing

@Suite struct PlaceholderTidyTests {}
