"""Schedules of the number of blanks, and the wrappers that follow them."""
