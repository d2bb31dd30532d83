"""Famous single boards, and three of our own, by name."""
