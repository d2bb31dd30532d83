"""Compiled code: `njit` with a cache that follows its sources, LLVM intrinsics, random streams."""
