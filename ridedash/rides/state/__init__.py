"""The states of an order and of its ride: what an answer proves, and each change of state."""
