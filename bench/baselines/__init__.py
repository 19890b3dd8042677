"""What the program is measured against: each the plain way that a good engineer would write it
first.
"""
