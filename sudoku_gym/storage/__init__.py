"""Files: atomic writes, locks, checked reading, configurations as JSON."""
