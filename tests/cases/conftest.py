from tests.worlds import each_world, world

__all__ = ["each_world", "world"]
