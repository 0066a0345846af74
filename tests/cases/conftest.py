from tests.worlds import each_world, plain_logs, world

__all__ = ["each_world", "plain_logs", "world"]
