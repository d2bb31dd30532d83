"""What every learner shares: networks as bodies and heads, and one training loop."""
