import Testing

@Suite struct PlaceholderLinkCoordinatorTests {}
