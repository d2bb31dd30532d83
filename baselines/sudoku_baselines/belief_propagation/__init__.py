"""Belief propagation and Sinkhorn balancing, after Khan et al., with additions of our own."""
