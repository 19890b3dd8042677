"""The eight operations over HTTP, and the control of the sandbox."""
