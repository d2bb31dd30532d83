"""The agents that have a row in the leaderboard, and their kinds."""

AGENT_KINDS = {
    "q-table": "learned",
    "dqn": "learned",
    "gflownet": "learned",
    "gflownet?sample=true": "learned",
    "calphazero": "learned",
    "calphazero-general": "learned",
    "calphazero?simulations=16&rounds=32": "learned, with search",
    "calphazero?search=retry": "learned, with search",
}
