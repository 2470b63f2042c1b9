"""The interfaces of other libraries over popfib's table: `pytricia`, `radix`."""
