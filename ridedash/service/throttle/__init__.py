"""Which calls may start now, by priority: circuit breaker and rate limit."""
