"""Files: configurations as JSON, and what is checked of a file before it is believed."""
