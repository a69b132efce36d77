"""Token datasets in fairseq's and Megatron's files.

`token_file` is what all of them are once they are open: items one after the other in a mapped file.
`mmap_indexed_dataset` (with `mmap_index` and `mmap_builder`) is the format of today, `indexed_dataset` the older one.
Both have a builder, which is a `token_file_builder`. `loading` finds and opens a dataset whatever its format. How the
files are laid out is told by `sources.index_layout` and `sources.token_types`, for all who read or write them, such as
`Dataset.to_fairseq`.
"""
