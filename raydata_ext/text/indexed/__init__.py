"""Token datasets in fairseq's and Megatron's files.

`token_file` is what all of them are once they are open: items one after the other in a mapped file.
`mmap_indexed_dataset` (with `mmap_index`, the layout of its index, and `mmap_builder`) is the format of today,
`indexed_dataset` the older one. `token_types` are the types of tokens. `loading` finds and opens a dataset whatever its
format; `from_dataset` writes a column of a `Dataset`.
"""
