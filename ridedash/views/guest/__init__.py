"""The page that a guest or a follower opens by a link."""
