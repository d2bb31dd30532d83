"""Network bodies, and the heads that read them."""
