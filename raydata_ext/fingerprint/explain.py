"""Two fingerprints' parts compared, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raydata_ext.fingerprint.parts import CODE, CONSTANT, REST, SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Mapping


def explain_difference(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Say what changed from one fingerprint to another.

    Args:
        old: `Fingerprint.parts` of then.
        new: `Fingerprint.parts` of now.

    Returns:
        One sentence a change, such as "constant 200 became 300", "helper `clean.normalise` changed", "default of
        `min_chars`: 1 became 2"; empty if the parts are equal.
    """
    before, after = _by_subject(old), _by_subject(new)
    sentences = []
    for subject in {**after, **before}:
        if subject not in before:
            sentences.append(f"{subject} is new")
        elif subject not in after:
            sentences.append(f"{subject} is no longer used")
        else:
            changes = _changes(before[subject], after[subject])
            sentences += changes if not subject else _of_subject(subject, changes)
    # The digest of the whole speaks only where nothing else does.
    known = [sentence for sentence in sentences if not sentence.startswith(REST)]
    return known or sentences


def _by_subject(parts: Mapping[str, str]) -> dict[str, dict[str, str]]:
    subjects: dict[str, dict[str, str]] = {"": {}}
    for label, text in parts.items():
        subject, _, detail = label.rpartition(SEPARATOR)
        subjects.setdefault(subject, {})[detail] = text
    return subjects


def _of_subject(subject: str, changes: list[str]) -> list[str]:
    if not changes:
        return []
    if any(change.startswith("code of ") for change in changes):
        return [f"{subject} changed"]
    return [f"{subject} changed: {', '.join(changes)}"]


def _changes(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    changes = []
    # The name behind the digest of the code is for people, and no part of the comparison.
    code = [parts.get(CODE, "").partition(" ")[0] for parts in (old, new)]
    code_changed = code[0] != code[1]
    if code_changed:
        changes.append(f"code of `{(new.get(CODE) or old[CODE]).partition(' ')[2]}` changed")
    for label in {**new, **old}:
        is_constant = label.startswith(CONSTANT + " ")
        if label == CODE or old.get(label) == new.get(label) or (is_constant and code_changed):
            continue
        changes.append(_change(CONSTANT if is_constant else label, old.get(label), new.get(label)))
    return list(dict.fromkeys(changes))


def _change(label: str, old: str | None, new: str | None) -> str:
    if old is None:
        return f"{label} is new" if new is None or new.startswith("#") else f"{label} is new ({new})"
    if new is None:
        return f"{label} is gone" if old.startswith("#") else f"{label} is gone (it was {old})"
    if old.startswith("#") or new.startswith("#"):
        return f"{label} changed"
    return f"{label} {old} became {new}" if label == CONSTANT else f"{label}: {old} became {new}"
