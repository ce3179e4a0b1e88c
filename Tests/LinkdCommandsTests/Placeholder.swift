import Testing

@Suite struct PlaceholderLinkdCommandsTests {}
