"""Amounts as people read them: bytes in powers of 1,000, times in at most two units, things in singular and plural."""

from __future__ import annotations

_BYTE_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
_THOUSAND = 999.5  # from here on it is rounded to a thousand
_TIME_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def readable_bytes(number: float) -> str:
    """Bytes to three digits: `"170 B"`, `"23.3 MB"`, `"4 GB"`."""
    unit, *larger = _BYTE_UNITS
    while larger and number >= _THOUSAND:
        number, unit, *larger = number / 1000, *larger
    return f"{number:.3g} {unit}" if number < _THOUSAND else f"{number:,.0f} {unit}"


def readable_seconds(seconds: float) -> str:
    """A time in its largest unit and the next one: `"0 s"`, `"2 min 5 s"`, `"3 h"`."""
    left = round(seconds)
    first = next((place for place, (size, _) in enumerate(_TIME_UNITS) if left >= size), len(_TIME_UNITS) - 1)
    parts: list[str] = []
    for size, unit in _TIME_UNITS[first : first + 2]:
        amount, left = divmod(left, size)
        if amount or not parts:
            parts.append(f"{amount} {unit}")
    return " ".join(parts)


def counted(number: int, thing: str) -> str:
    """`"1 shard"`, `"2,000 shards"`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
