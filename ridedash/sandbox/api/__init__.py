"""The eight operations over HTTP, and the control API of the sandbox."""
