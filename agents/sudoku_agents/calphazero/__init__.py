"""cAlphaZero's policy: the shipped networks, and the checkpoints of both trainers."""
