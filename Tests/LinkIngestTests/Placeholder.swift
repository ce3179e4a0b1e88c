import Testing

@Suite struct PlaceholderLinkIngestTests {}
