"""`python -m raydata_ext` is the command `raydata-ext`."""

from __future__ import annotations

from raydata_ext.cli import main

main()
