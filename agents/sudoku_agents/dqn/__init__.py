"""Deep Q-learning that never considers an illegal placement."""
