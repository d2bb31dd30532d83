"""Where puzzles come from: the complete 4x4 world, a generator, shipped banks, files."""
