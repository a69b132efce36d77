"""The nodes of a stream, one a file; `base` is what they all have in common."""
