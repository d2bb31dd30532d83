"""Common to all learners: networks as bodies and heads, and one training loop."""
