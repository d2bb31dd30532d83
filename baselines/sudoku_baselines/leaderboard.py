"""The baselines that have a row in the leaderboard, and their kinds."""

BASELINE_KINDS = {
    "masked-random": "floor",
    "naked-singles": "floor",
    "hidden-singles": "floor",
    "backtracking?node_limit=1000000": "solver",
    "dlx?node_limit=1000000": "solver",
    "propagation?node_limit=100000": "solver",
    "solver": "solver",
    "sat": "solver",
    "sum-product?schedule=serial-zeros": "message passing",
    "max-product?schedule=serial-zeros": "message passing",
    "sinkhorn": "message passing",
    "bp-sinkhorn?schedule=serial-zeros": "message passing",
    "fractional-bp": "message passing",
    "surest-marginal": "message passing",
    "drawn-marginal": "message passing",
    "multiverse-m12": "supervised",
    "guissart": "search on top",
    "exact-cover-supervised?mode=one-shot": "supervised",
    "exact-cover-supervised": "supervised",
}
