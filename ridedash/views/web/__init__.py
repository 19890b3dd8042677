"""What every page shares: the signed-in user, permissions, errors, headers, formats.

Imports no feature.
"""
