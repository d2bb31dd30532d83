"""Classical solvers, after Panchal's comparison of backtracking, dancing links and propagation."""
