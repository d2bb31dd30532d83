"""What every learner shares: networks, and the loop that trains them."""
