"""One episode, many episodes, one model call: the async orchestrator, its limits and its stop."""
