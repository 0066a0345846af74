"""The drill: the test that matters, on the operator's own machine. See app/cli/drill.py for what it does."""
