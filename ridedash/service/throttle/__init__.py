"""What may be asked now and who goes first: breaker, rate limit, priorities."""
