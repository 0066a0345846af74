from tests.worlds import plain_logs

__all__ = ["plain_logs"]
