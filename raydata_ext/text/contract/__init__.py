"""What all datasets have in common.

`fairseq_dataset` is the contract, `iterable_dataset` that of datasets without row numbers. `base_wrapper_dataset` is
the base of what changes one thing about a dataset, `parent_dataset` of all that is made of others; `children` is how
they ask them. `sizes` is what lengths of rows look like, `tensors` where arrays become tensors, `seeds` where random
numbers come from, and `default_collate` how samples are merged that nothing is known of.
"""
