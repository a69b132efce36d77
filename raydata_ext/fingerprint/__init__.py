"""Stable hashes of code and values across processes and machines, and the explanation of a difference."""

from raydata_ext.fingerprint.compute import Fingerprint, fingerprint, hash_value
from raydata_ext.fingerprint.explain import explain_difference
from raydata_ext.fingerprint.framing import combine
from raydata_ext.fingerprint.reducers import register

__all__ = ["Fingerprint", "combine", "explain_difference", "fingerprint", "hash_value", "register"]
