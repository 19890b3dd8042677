"""What every page shares: who is signed in, what they may do, errors, headers, formats. Imports no
feature.
"""
