"""Q-learning: `tabular` with a value for each board and placement, `deep` with a network."""
