"""The pages: sign in, say what fits, see why, leave."""
