"""HTTP outwards: the only package that knows httpx and httpcore."""
