"""The agents that have a row in the leaderboard, and their kinds."""

AGENT_KINDS = {
    "q-table": "learned without solutions",
    "dqn": "learned without solutions",
    "gflownet": "learned without solutions",
    "gflownet?sample=true": "learned without solutions",
    "expert-iteration": "learned without solutions",
    "expert-iteration?simulations=16&rounds=32": "search on top",
    "expert-iteration?search=best-first": "search on top",
}
