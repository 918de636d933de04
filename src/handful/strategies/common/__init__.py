"""What several strategies need: the task they are given, passes over the pool, and the way into the engine."""
