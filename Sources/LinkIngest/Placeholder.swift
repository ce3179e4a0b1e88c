// Placeholder until the first file stands here.
